#!/usr/bin/env bash
# Build wheel and sdist twice, from two copies of what is under version control, and compare them byte by byte; then
# list what an installation holds, as a bill of materials in CycloneDX. Usage: locks/build.sh FOLDER-OF-PROGRAMS
set -euo pipefail
programs=$(realpath "$1")
cd "$(dirname "$0")/.."
git rev-parse --is-inside-work-tree >/dev/null 2>&1 ||
  { echo "This is not a clone: git knows which files belong to the package. Hint: build from a clone."; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for copy in first second; do
  mkdir "$work/$copy"
  git ls-files -z | tar --create --null --files-from=- | tar --extract --directory="$work/$copy" --touch
  (umask $([ "$copy" = first ] && echo 022 || echo 077) && cd "$work/$copy" &&
    "$programs/python" -m build --no-isolation --outdir "$work/$copy-dist" . >"$work/$copy.log" 2>&1) ||
    { cat "$work/$copy.log"; exit 1; }
done
diff --recursive "$work/first-dist" "$work/second-dist" || { echo "The two builds differ."; exit 1; }
rm -rf dist
cp -r "$work/first-dist" dist
"$programs/cyclonedx-py" requirements locks/run.txt --output-reproducible --of JSON --output-file dist/dawa.cdx.json
(cd dist && sha256sum ./*)
