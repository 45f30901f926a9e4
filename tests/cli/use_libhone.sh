# The example of the C library compiles against the installed header's text and runs.
. "${0%/*}/lib.sh"

BUILD=${BUILD:-$ROOT/build/release}
case $BUILD in
*/asan) flags='-fsanitize=address,undefined' ;;
*/tsan) flags='-fsanitize=thread' ;;
*) flags= ;;
esac
cat >scale.op <<'END'
dim N=3
in X: f32[N]
Y[i] = 2*X[i] + 1
out Y
END
expect 'it compiles' 0 gcc -std=c99 -pedantic -Wall -Wextra -Werror $flags -I"$ROOT/src/libhone" \
    "$ROOT/examples/use_libhone.c" "$BUILD/libhone.a" -lcrypto -lcurl -ljansson -lsqlite3 -lz -lm \
    -ldl -lpthread -o use_libhone
expect 'it runs' 0 ./use_libhone scale.op
says out 'the task is named' 'scale '
says out 'the output is described' 'Y: f32[3], first element '
expect 'it tells what is wrong' 2 ./use_libhone nowhere.op
says err 'by name' 'nowhere.op: no such file'
# Names that another program could have too must not be seen.
nm -D --defined-only "$BUILD/libhone.so.0" | sed 's/.* //' | grep -v '^hone_' >seen.so || :
nm -g --defined-only "$BUILD/libhone.a" | sed -n 's/.* [A-Z] //p' | grep -v '^hone_' >seen.a || :
check 'the shared library shows hone_ alone' '! grep -v asan seen.so'
check 'and so does the archive' '! grep -v asan seen.a'
printf '#include <libhone.h>\nint main() { return hone_version() == nullptr; }\n' >face.cpp
if command -v g++ >/dev/null; then
    expect 'C++ reads the header' 0 g++ -Wall -Werror -I"$ROOT/src/libhone" -c face.cpp -o face.o
fi
finish
