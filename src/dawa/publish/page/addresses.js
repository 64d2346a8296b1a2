// Addresses as cell borders. Addresses are big integers: those of IPv6 have 128 bits.
const addresses = (() => {
  const BITS = { 4: 32n, 6: 128n };
  const ENDS = { 4: "256.0.0.0", 6: "10000::" };
  const OCTET = /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;
  const GROUP = /^[0-9a-f]{1,4}$/i;

  /** The number of an address, or null. */
  function read(text, version) {
    if (text === ENDS[version]) {
      return 1n << BITS[version];
    }
    return version === 4 ? readFour(text.split(".")) : readSix(text);
  }

  function readFour(octets) {
    if (octets.length !== 4 || !octets.every((octet) => OCTET.test(octet))) {
      return null;
    }
    return octets.reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
  }

  function readSix(text) {
    const sides = text.split("::").map((side) => (side === "" ? [] : side.split(":")));
    const known = sides.flat();
    const enough = sides.length === 2 ? known.length < 8 : sides.length === 1 && known.length === 8;
    if (!enough || !known.every((group) => GROUP.test(group))) {
      return null;
    }
    const zeros = Array(8 - known.length).fill("0");
    return [...sides[0], ...zeros, ...(sides[1] ?? [])].reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
  }

  /** An address as it is usually written, or the end of all addresses. */
  function written(number, version) {
    if (number >= 1n << BITS[version]) {
      return ENDS[version];
    }
    const [width, count] = version === 4 ? [8n, 4] : [16n, 8];
    const part = (i) => (number >> (width * BigInt(count - 1 - i))) % (1n << width);
    const parts = Array.from({ length: count }, (_, i) => part(i));
    return version === 4 ? parts.join(".") : shortened(parts);
  }

  /** Groups with the longest run of zeros left out. */
  function shortened(parts) {
    const groups = parts.map((part) => part.toString(16));
    let [first, most] = [0, 1];
    for (let i = 0; i < groups.length; i += 1) {
      let end = i;
      while (groups[end] === "0") {
        end += 1;
      }
      if (end - i > most) {
        [first, most] = [i, end - i];
      }
    }
    if (most < 2) {
      return groups.join(":");
    }
    return `${groups.slice(0, first).join(":")}::${groups.slice(first + most).join(":")}`;
  }

  /** The first address of a network and the number of its bits, or null. */
  function network(text, version) {
    const found = /^([^/]+)\/(\d{1,3})$/.exec(text);
    const first = found && read(found[1], version);
    const shared = found ? BigInt(found[2]) : 0n;
    return first === null || shared > BITS[version] ? null : { first, each: 1n << (BITS[version] - shared) };
  }

  function axis(data) {
    const version = data.within.includes(":") ? 6 : 4;
    const { first, each } = network(data.within, version);
    const width = 1n << (BITS[version] - BigInt(data.prefix));
    const size = Number(each / width);
    const write = (border) => written(first + BigInt(border) * width, version);

    /** The border where an end lies; a network begins at its first address, and ends after its last. */
    function borderOf(text, beyond) {
      const net = network(text.trim(), version);
      const found = net ? net.first + (beyond ? net.each : 0n) : read(text.trim(), version);
      return found === null || (net && net.first % net.each) ? null : { n: found - first, d: width };
    }

    return {
      size,
      what: `IPv${version} address, nor a network`,
      cell: width === 1n ? "address" : `network of ${data.prefix} bits`,
      pitch: width === 1n ? "by address" : `by networks of ${data.prefix} bits`,
      text: true,
      border: (text) => borderOf(text, false),
      upper: (text) => borderOf(text, true),
      write,
      ticks(from, to, most) {
        const gap = 2 ** Math.max(0, Math.ceil(Math.log2((to - from) / Math.max(most, 1))));
        const found = [];
        for (let at = Math.ceil(from / gap) * gap; at <= to; at += gap) {
          found.push({ at, text: write(at) });
        }
        return found;
      },
    };
  }

  return { axis };
})();
