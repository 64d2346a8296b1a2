#!/usr/bin/env bash
# Install the wheel of dist/ into empty environments, with the locked versions of what it needs, and use it there: alone,
# and with what releases need. Usage: locks/installed.sh PYTHON
set -euo pipefail
python=$1
cd "$(dirname "$0")/.."
wheel=$(ls dist/*.whl)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -e '/--hash/d' -e 's/ \\$//' locks/run.txt > "$work/versions.txt" # the wheel itself has no hash yet
cp tests/results/files/age-dawa.json "$work/release.json"
fresh() {
  "$python" -m venv "$work/$1"
  "$work/$1/bin/python" -m pip install --quiet --disable-pip-version-check --constraint "$work/versions.txt" "$2"
  echo "$2: $(du -sm "$work/$1" | cut -f1) MB with pip"
}
cd "$work"
fresh core "$OLDPWD/$wheel"
core/bin/dawa query release.json 20:60
core/bin/dawa explore release.json --out page.html
if core/bin/dawa demo > /dev/null 2> refused; then
  echo "dawa demo ran without what it needs" && exit 1
fi
grep "Hint: pip install 'dawa\[release\]'" refused
fresh release "$OLDPWD/$wheel[release]"
release/bin/dawa demo
printf 'age\n31\n45\n' > people.csv
release/bin/dawa release people.csv --column age --range 0:100 --epsilon 1 --out ages
release/bin/dawa query ages 20:60
