"""Keys that sign receipts: made, read from their files, and used. Ed25519 (RFC 8032), by the package ``cryptography``.

A private key is a file in PEM (PKCS #8) that its owner alone may read. Its public key lies beside it, in PEM as well,
and whoever has that can check what was signed. Both are files that other tools read, such as ``openssl pkey``.

No message repeats what is in a file of keys, nor the name of one that is not there: it may be a key that somebody put
where the name of its file belongs.
"""

import errno
import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from dawa.errors import LedgerError, printable
from dawa.host import atomic, extras
from dawa.limits import MOST_KEY_FILE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

VARIABLE = "DAWA_LEDGER_KEY"
"""The environment variable that names the file of the private key."""

PUBLIC = ".pub"
"""What the name of a public key's file has more than that of the private one."""

OTHERS = 0o077
"""The rights of everybody but the owner."""

MAKE = "dawa ledger key FILE makes one."


@dataclass(frozen=True)
class PublicKey:
    """What checks signatures.

    Attributes:
        raw: The key, 32 bytes.
    """

    raw: bytes

    @property
    def fingerprint(self) -> str:
        """A short name for people to compare: how the SHA-256 of the key begins, 128 bits of it."""
        return hashlib.sha256(self.raw).hexdigest()[:32]

    @property
    def text(self) -> str:
        """The file, as PEM."""
        from cryptography.hazmat.primitives import serialization as form  # noqa: PLC0415  an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

        key = Ed25519PublicKey.from_public_bytes(self.raw)
        return key.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo).decode("ascii")

    def signed(self, message: bytes, signature: bytes) -> bool:
        """Whether a signature of a message was made with the private key."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except InvalidSignature:
            return False
        return True

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "PublicKey":
        """The public key in a file.

        Raises:
            LedgerError: If it cannot be read, or is not a public Ed25519 key.
            InstallationError: If the library is missing.
        """
        _needed("Checking a signature")
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415  an extra
        from cryptography.hazmat.primitives import serialization as form  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

        content, _ = _content(path, f"name the file that ends in {PUBLIC}.")
        if b"PRIVATE KEY" in content:
            raise LedgerError(
                f"{_shown(path)} is a private key, which checks nothing and is for nobody else.",
                f"name the public one: the file beside it that ends in {PUBLIC}.",
            )
        try:
            found = form.load_pem_public_key(content)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            found = None
        if not isinstance(found, Ed25519PublicKey):
            raise LedgerError(
                f"{_shown(path)} is not a public Ed25519 key in PEM.", f"name the file that ends in {PUBLIC}; {MAKE}"
            )
        return cls(found.public_bytes(form.Encoding.Raw, form.PublicFormat.Raw))


@dataclass(frozen=True)
class PrivateKey:
    """What signs. It prints as its public key does.

    Attributes:
        public: What checks its signatures.
    """

    public: PublicKey
    _key: "Ed25519PrivateKey" = field(repr=False, compare=False)

    def sign(self, message: bytes) -> bytes:
        """The signature of a message."""
        return self._key.sign(message)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "PrivateKey":
        """The private key in a file that its owner alone may read.

        Raises:
            LedgerError: If it cannot be read, others may read it, or it is not a private Ed25519 key.
            InstallationError: If the library is missing.
        """
        _needed("Signing receipts")
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415  an extra
        from cryptography.hazmat.primitives import serialization as form  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

        content, mode = _content(path, f"name the file of a private key in {VARIABLE}, or unset it; {MAKE}")
        try:
            found = form.load_pem_private_key(content, password=None)
        except TypeError:
            raise LedgerError(
                f"The key in {_shown(path)} has a passphrase, which nobody can type here.", f"name another; {MAKE}"
            ) from None
        except (ValueError, UnsupportedAlgorithm):
            found = None
        if not isinstance(found, Ed25519PrivateKey):
            raise LedgerError(
                f"{_shown(path)} is not a private Ed25519 key in PEM.",
                f"name the file that does not end in {PUBLIC}; {MAKE}" if b"PUBLIC KEY" in content else MAKE,
            )
        if os.name == "posix" and mode & OTHERS:
            raise LedgerError(
                f"Others than its owner may use the private key in {_shown(path)}.",
                "chmod 600 on it; and if others may have read it, make another one: dawa ledger key FILE.",
            )
        return cls(PublicKey(found.public_key().public_bytes(form.Encoding.Raw, form.PublicFormat.Raw)), found)


def named(path: str | os.PathLike[str] | None) -> Path | None:
    """The file of the private key at a path, or the one that the environment names, or none. It is not read yet.

    Raises:
        LedgerError: If this names no file.
    """
    found = os.environ.get(VARIABLE) if path is None else as_path(path)
    if found is None:
        return None
    if not found.strip():
        what, where = (
            (f"{VARIABLE} is empty", " in it, or unset it") if path is None else ("The name of the key is empty", "")
        )
        raise LedgerError(f"{what}.", f"name the file of a private key{where}.")
    if "\0" in found:
        raise LedgerError("This path cannot name a key.", "name another file.")
    return Path(found).absolute()


def as_path(path: object) -> str:
    """The path of a key's file, as text.

    Raises:
        LedgerError: If it is no path: it may be a key itself, which is not repeated.
    """
    found = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(found, str):
        raise LedgerError(
            f"A key is named by the path of its file, not by a value of type {type(path).__name__}.",
            'pass the path, such as "hospital.key".',
        )
    return found


def beside(path: Path) -> Path:
    """Where the public key of a private one lies."""
    return path.with_name(path.name + PUBLIC)


def made(path: str | os.PathLike[str]) -> tuple[PrivateKey, bool]:
    """Make a private key and write it, with its public key beside it; nothing is ever replaced.

    If the private key is there and its public one is not, that alone is written: a run was killed between the two, or
    somebody lost it.

    Returns:
        The key, and whether it is new.

    Raises:
        LedgerError: If there is something of these names, or they cannot be written.
        InstallationError: If the library is missing.
    """
    _needed("Making a key")
    from cryptography.hazmat.primitives import serialization as form  # noqa: PLC0415  an extra
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    place = Path(path)
    if place.name.endswith(PUBLIC):
        raise LedgerError(f"A name that ends in {PUBLIC} is that of a public key.", "name the private one without it.")
    try:
        if os.path.lexists(place):
            return _found(place), False
        if os.path.lexists(beside(place)):
            raise _taken(beside(place))
        content = Ed25519PrivateKey.generate().private_bytes(
            form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
        )
        try:
            atomic.write(place, content, new=True, private=True)
        except FileExistsError:
            raise _taken(place) from None
        try:
            found = PrivateKey.read(place)  # on a disk without rights, everybody may read it
            _published(found, beside(place))
        except BaseException:
            with suppress(OSError):
                place.unlink()
            raise
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "this cannot be a name"
        raise LedgerError(f"The key cannot be written ({reason}).", "choose another place for it.") from None
    return found, True


def _found(place: Path) -> PrivateKey:
    """The private key that is there, once its public key is beside it."""
    if os.path.lexists(beside(place)):
        raise _taken(place)
    try:
        found = PrivateKey.read(place)
    except LedgerError:
        raise _taken(place) from None
    _published(found, beside(place))
    return found


def _published(key: PrivateKey, place: Path) -> None:
    """Write a public key, unless it is there: another run may have found it missing."""
    try:
        atomic.write(place, key.public.text, new=True)
    except FileExistsError:
        if PublicKey.read(place) != key.public:
            raise _taken(place) from None


def _taken(place: Path) -> LedgerError:
    return LedgerError(f"{_shown(place)} exists already.", "choose another name: a key replaces nothing.")


def _needed(what: str) -> None:
    extras.needed(what, extras.SIGNING)


def _content(path: str | os.PathLike[str], hint: str) -> tuple[bytes, int]:
    """What a file of a key holds, and its mode.

    Raises:
        LedgerError: If it cannot be read, or is no file.
    """
    try:
        # A pipe is not waited for. What is looked at is what is read, whatever gets its name meanwhile.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with open(handle, "rb") as file:  # noqa: PTH123  it is open already
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_KEY_FILE:
                raise LedgerError(f"{_shown(path)} is not the file of a key.", hint)
            return file.read(MOST_KEY_FILE), found.st_mode
    except (OSError, ValueError) as error:
        _unread(path, error, hint)


def _unread(path: str | os.PathLike[str], error: OSError | ValueError, hint: str) -> NoReturn:
    """Say that a file cannot be read, with its name if there is one of that name."""
    absent = not isinstance(error, OSError) or error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}
    label = "The file that should hold the key" if absent else _shown(path)
    reason = (error.strerror if isinstance(error, OSError) else None) or "this cannot be a name"
    raise LedgerError(f"{label} cannot be read ({reason}).", hint) from None


def _shown(path: str | os.PathLike[str]) -> str:
    return f"'{printable(os.fspath(path))}'"
