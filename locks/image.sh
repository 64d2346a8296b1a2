#!/usr/bin/env bash
# Build the image with podman or docker, and use it as Containerfile means it to be used: read-only, as nobody in
# particular, without a network. Usage: locks/image.sh [arguments of build]
set -euo pipefail
cd "$(dirname "$0")/.."
for engine in podman docker; do
  "$engine" info >/dev/null 2>&1 && break
  [ "$engine" = podman ] || { echo "Neither podman nor docker runs here. Hint: apt-get install podman"; exit 1; }
done
"$engine" build --file Containerfile --tag dawa "$@" .
work=$(mktemp -d)
chmod 777 "$work"
run() { "$engine" run --rm --read-only --tmpfs /tmp --network none --cap-drop all --volume "$work:/data:z" "$@"; }
box() { run dawa "$@"; }
trap 'run --entrypoint find dawa /data -mindepth 1 -user dawa -delete; rm -rf "$work"' EXIT # its files are another user's
mkdir -m 777 "$work/books"
(echo age && for i in {0..999}; do echo $((i % 100)); done) > "$work/people.csv"
box warm-up | tee "$work/told"
grep -Eq '^Byte code: ([0-9,]+) of \1 modules have theirs' "$work/told"
box ledger create people --cap 1 --unit record --table people.csv --ledger books/ledger.db
box release people.csv --column age --range 0:100 --epsilon 1 --dataset people --ledger books/ledger.db --out ages
box query ages 20:60
code=0 # 3 says that the cap is reached
box release people.csv --column age --range 0:100 --epsilon 1 --dataset people --ledger books/ledger.db --out more || code=$?
((code == 3)) || { echo "The ledger paid more than its cap."; exit 1; }
"$engine" image inspect --format '{{.Size}}' dawa | awk '{printf "dawa: an image of %d MB\n", $1 / 1e6}'
