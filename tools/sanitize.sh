#!/usr/bin/env bash
# Build the core with sanitizers into build/sanitize, run tests against it, one process per part, and sum up.
# Usage: tools/sanitize.sh PYTHON [PART ...], where a part is a folder or file below tests. Reports are kept in
# build/sanitize/reports; a part that crashes does not keep the others from running.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath --no-symlinks "$1")
shift
parts=(core materials transfers contact exact geometry bodies implicit mesh flow mesh_bodies/test_mesh_on_grid.py
    physics/test_far_from_zero.py)
[ $# -gt 0 ] && parts=("$@")
folder=build/sanitize
export PATH="$(dirname "$python"):$PATH"
cmake -S . -B "$folder" -DCONTINUA_SANITIZE=ON -DPython_EXECUTABLE="$python" > /dev/null
cmake --build "$folder" --parallel 2
package=$PWD/$folder/package reports=$PWD/$folder/reports
rm -rf "$package" "$reports" && mkdir -p "$package" "$reports"
cp -r src/continua "$package/continua"
rm -f "$package"/continua/_core*.so
cp "$folder"/_core*.so "$package/continua/"

# Tests of one part against the sanitized package; what pytest says goes to a file.
run_part() {
    LD_PRELOAD="$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libstdc++.so)" \
    ASAN_OPTIONS=detect_leaks=0:log_path="$reports/$2" \
    UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:log_path="$reports/$2" \
    "$python" -I -c "
import sys
sys.path.insert(0, '$package')
sys.meta_path[:] = [f for f in sys.meta_path if 'ScikitBuild' not in type(f).__name__]
import continua
assert continua.__file__.startswith('$package'), continua.__file__
import pytest
sys.exit(pytest.main(['-q', '-o', 'addopts=', '-p', 'no:cacheprovider', 'tests/$1']))
" > "$reports/$2.txt" 2>&1
}

failed=0
for part in "${parts[@]}"; do
    name=${part//\//-}
    if run_part "$part" "$name"; then verdict=clean; else verdict="FAILED, see $folder/reports/$name.txt" failed=1; fi
    findings=$(find "$reports" -name "$name.[0-9]*" | wc -l)
    [ "$findings" -eq 0 ] || verdict="$findings SANITIZER REPORTS, see $folder/reports/$name.*" failed=1
    counts=$(grep -E '^[0-9]+ (passed|failed|skipped|error)|^=+ .*(passed|failed|error).* =+$' "$reports/$name.txt" | tail -1)
    printf '%-36s %-44s %s\n' "$part" "${counts:-no summary}" "$verdict"
done
[ "$failed" -eq 0 ] && echo "all parts clean" || echo "not clean"
exit "$failed"
