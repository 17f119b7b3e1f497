#!/usr/bin/env bash
# Packs what a GPU machine without a package registry needs beside SGLang itself (x86_64, Python 3.12): this checkout
# as a wheel, so that SGLang finds the plugin's entry point, and the few packages of the app that neither that machine
# nor the SGLang kit holds. Some 2 MB.   usage: tests/gpu/pack.sh FOLDER
set -euo pipefail
out=${1:?usage: tests/gpu/pack.sh FOLDER}
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$out/app"; rm -f "$out"/app/*.whl
python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.12 --implementation cp \
  --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 --platform any -d "$out/app" \
  textual==8.2.8 platformdirs tomli-w mdit-py-plugins linkify-it-py uc-micro-py pyte
python3 -m pip wheel -q --no-deps -w "$out/app" "$root"
git -C "$root" rev-parse --short HEAD > "$out/commit"
ls -l "$out/app"
