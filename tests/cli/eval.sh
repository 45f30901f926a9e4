# hone task --eval: values and tolerances, from drawn inputs and from files.
. "${0%/*}/lib.sh"

cat >scale.op <<'END'
op scale
dim R=2, N=3
in X: f32[R,N]
in T: i32[R] from 0 to N-1
Y[r,j] = 2*X[r,j] + 1
Z[r] = X[r,T[r]]
out Y, Z
case wide N=5
END

# le16 NUMBER, le32 NUMBER: as little-endian octal escapes for printf
byte() { printf '\\%03o' "$1"; }
le32() { byte $(($1 & 255)); byte $(($1 >> 8 & 255)); byte $(($1 >> 16 & 255)); byte $(($1 >> 24 & 255)); }

# npy FILE TYPE SHAPE: begins a file; its elements are added by the caller.
npy()
{
    header="{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
    while [ $(((10 + ${#header} + 1) % 64)) -ne 0 ]; do
        header="$header "
    done
    length=$((${#header} + 1))
    printf "\\223NUMPY\\001\\000$(byte $((length & 255)))$(byte $((length >> 8)))" >"$1"
    printf '%s\n' "$header" >>"$1"
}

# The bits of 1, 2, 3, 0.5, -1, 4 as f4.
floats='1065353216 1073741824 1077936128 1056964608 3212836864 1082130432'
mkdir in
npy in/X.npy '<f4' '(2, 3)'
for bits in $floats; do printf "$(le32 "$bits")" >>in/X.npy; done
npy in/T.npy '<i4' '(2,)'
for value in 2 0; do printf "$(le32 $value)" >>in/T.npy; done

# value FILE NUMBER: element of a float64 file
value()
{
    od -An -v -tf8 -w8 -j128 "$1" | sed -n "$(($2 + 1))p" | tr -d ' '
}

expect 'values from files' 0 "$HONE" task scale.op --eval --inputs in -o res
says out 'the case is named' 'scale, case default, inputs in'
says out 'a row for Y' 'f32 2x3'
says out 'what was written' 'Written to res'
check 'Y[0,1] is 5' '[ "$(value res/Y.npy 1)" = 5 ]'
check 'Y[1,1] is -1' '[ "$(value res/Y.npy 4)" = -1 ]'
check 'Z[0] is X[0,2]' '[ "$(value res/Z.npy 0)" = 3 ]'
check 'Z[1] is X[1,0]' '[ "$(value res/Z.npy 1)" = 0.5 ]'
check 'the type is float64, the shape that of Y' 'head -c128 res/Y.npy | grep -qF "(2, 3)"'
check 'the tolerance of Y is small and positive' \
    'value res/Y.tolerance.npy 0 | awk "{ exit !(\$1 > 0 && \$1 < 1e-4) }"'
check 'four files' '[ "$(ls res | wc -l)" -eq 4 ]'

expect 'values from a seed' 0 "$HONE" task scale.op --eval --seed 7 -o a
expect 'the same seed again' 0 "$HONE" task scale.op --eval --seed 7 -o b
expect 'another seed' 0 "$HONE" task scale.op --eval --seed 8 -o c
check 'the same values' 'cmp a/Y.npy b/Y.npy && cmp a/Y.tolerance.npy b/Y.tolerance.npy'
check 'other values' '! cmp -s a/Y.npy c/Y.npy'
expect 'without -o nothing is written' 0 "$HONE" task scale.op --eval
says out 'how to write' '-o DIR writes values and tolerances'
expect 'several cases have folders' 0 "$HONE" task scale.op --eval --case default,wide -o cases
check 'of their names' '[ -f cases/default/Y.npy ] && [ -f cases/wide/Z.npy ]'
expect 'JSON' 0 "$HONE" task scale.op --eval --inputs in --json
says out 'has the outputs' '"cases":[{"name":"default","outputs":[{"name":"Y","min":-1,"max":9,'
check 'one line' '[ "$(wc -l <out)" -eq 1 ]'

# What the values are does not depend on the file's own type.

mkdir wide
cp in/T.npy wide
npy wide/X.npy '<f8' '(2, 3)'
# 1, 2, 3, 0.5, -1 and 0.1, which f32 cannot hold
printf '\000\000\000\000\000\000\360\077\000\000\000\000\000\000\000\100' >>wide/X.npy
printf '\000\000\000\000\000\000\010\100\000\000\000\000\000\000\340\077' >>wide/X.npy
printf '\000\000\000\000\000\000\360\277\232\231\231\231\231\231\271\077' >>wide/X.npy
expect 'a float64 file for an f32 input' 0 "$HONE" task scale.op --eval --inputs wide -o w
says err 'is rounded, with a warning' 'f8 values rounded to f32, 1 of 6 changed'
check 'Y[0,1] is 5 again' '[ "$(value w/Y.npy 1)" = 5 ]'

# Mistakes.

# refused NAME TEXT FOLDER
refused()
{
    expect "$1" 2 "$HONE" task scale.op --eval --inputs "$3" -o never
    says err "$1: is told" "$2"
    check 'nothing was written' '[ ! -e never ] && [ ! -s out ]'
}

mkdir shape types range
cp in/T.npy shape
npy shape/X.npy '<f4' '(3, 2)'
for bits in $floats; do printf "$(le32 "$bits")" >>shape/X.npy; done
refused 'another shape' 'shape/X.npy: its shape is 3x2; X is 2x3 in case default' shape
cp in/X.npy types
npy types/T.npy '<f4' '(2,)'
for value in 0 0; do printf "$(le32 $value)" >>types/T.npy; done
refused 'another type' 'types/T.npy: its type is f4; T is i32' types
cp in/X.npy range
npy range/T.npy '<i4' '(2,)'
for value in 2 3; do printf "$(le32 $value)" >>range/T.npy; done
refused 'a subscript out of range' 'range/T.npy: element [1] is 3; the elements of T lie in 0..2' range
refused 'a folder without files' 'nowhere/X.npy' nowhere
expect 'a folder that cannot be' 2 "$HONE" task scale.op --eval -o scale.op/below
says err 'is told' 'scale.op/below'
cat >ref.c <<'END'
void reference(const double *X, double *Y) { for (int i = 0; i < N; i++) Y[i] = 2 * X[i]; }
END
printf 'dim N=4\nin X: f32[N]\nout Y: f32[N]\nreference "ref.c" tolerance 1e-5 1e-6\n' >own.op
expect 'a reference of one'\''s own' 0 "$HONE" task own.op --eval
says out 'is run' 'f32 4'
expect 'a seed that is none' 2 "$HONE" task scale.op --eval --seed x
says err 'is told' '--seed x: write a whole number'
finish
