#!/usr/bin/env bash
# Build the core with sanitizers into build/sanitize and run the fast tests against it.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$PWD/$1  # relative to the project
folder=build/sanitize
export PATH="$(dirname "$python"):$PATH"
cmake -S . -B "$folder" -DCONTINUA_SANITIZE=ON -DPython_EXECUTABLE="$python" > /dev/null
cmake --build "$folder" --parallel 2
package=$folder/package
rm -rf "$package" && mkdir -p "$package"
cp -r src/continua "$package/continua"
rm -f "$package"/continua/_core*.so
cp "$folder"/_core*.so "$package/continua/"
export LD_PRELOAD="$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libstdc++.so)"
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
exec "$python" -I -c "
import sys
sys.path.insert(0, '$package')
sys.meta_path[:] = [f for f in sys.meta_path if 'ScikitBuild' not in type(f).__name__]
import continua
assert continua.__file__.startswith(__import__('os').path.realpath('$package')) or '$package' in continua.__file__, continua.__file__
import pytest
parts = 'core materials transfers contact geometry bodies implicit mesh flow mesh_bodies/test_mesh_on_grid.py'.split()
sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', *('tests/' + part for part in parts)]))
"
