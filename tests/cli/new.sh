# hone new: a program from words.
. "${0%/*}/lib.sh"

expect 'words' 0 "$HONE" new 'rms norm over the last dim, 4096x1024 floats, learned scale'
says out 'name the operator' 'Nearest of the library is rms_norm (lib/norms.op). Written: rms_norm.op'
says out 'set the sizes' '  dim R=4096, N=1024'
says out 'show the program' '  Y[r,j] = X[r,j]*rsqrt(S[r]+eps)*G[j]'
says out 'say what to do' 'Check it: hone task rms_norm.op --eval'
expect 'what was written' 0 "$HONE" task rms_norm.op
expect 'is in the house style' 0 "$HONE" fmt --check rms_norm.op
expect 'is not overwritten' 2 "$HONE" new rms norm
says err 'unasked' 'write -o OTHER.op, or --force'
expect 'but so' 0 "$HONE" new rms norm --force

# near WORDS NAME TEXT: which operator the words lead to, and what its program has.
near()
{
    expect "$1" 0 "$HONE" new "$1" -o near.op --force
    says out "$1: the operator" "Nearest of the library is $2 ("
    says near.op "$1: its program" "$3"
    expect "$1: is a task" 0 "$HONE" task near.op
}

near 'softmax of 512x2048' softmax 'dim R=512, N=2048'
near 'matrix product of 512x1024 and 1024x256 in half' sgemm 'in A: f16[M,K]'
near 'layer norm without scale' layer_norm 'without scale and shift'
near 'gelu of 1000x1000 doubles' gelu 'in X: f64[R,N]'
near '3x3 convolution of 224x224 images' conv2d 'H=224, W=224'
near 'causal attention 8x512x64' causal_attention 'dim R=8, S=512, D=64, T=512'
near 'relu backward' relu_backward 'def relu_backward'
near 'int8 matmul' matmul_int 'in A: i8['
near 'batch norm inference' batch_norm 'H=56, W=56'
near 'cumulative sum N=100' cumsum 'N=100'
near 'transformer block B=2' transformer_block 'dim B=2, S=256'
near 'average pooling' avg_pool1d 'L='

expect 'several that fit' 0 "$HONE" new argmax -o near.op --force
says out 'are named' 'Also near: argmax_first'
expect 'sizes without a place' 0 "$HONE" new softmax Q=7 -o near.op --force
says out 'are told' 'Not used, since it is not clear where it belongs: Q=7'
expect 'sizes that contradict one another' 2 "$HONE" new matmul 8x9 7x6 -o near.op --force
says err 'are told too' 'K would be both 9 and 7'
expect 'a size of nothing' 2 "$HONE" new softmax 0x4 -o near.op --force
says err 'is none' '0x4: a size is a number from 1 on'
expect 'words that fit nothing' 1 "$HONE" new xyzzy
check 'write nothing' '! [ -e xyzzy.op ]'
expect 'no words' 2 "$HONE" new
expect 'as JSON' 0 "$HONE" new softmax --json
says out 'has the program' '"nearest":"softmax","from":"lib/softmax.op","program":"'

# ---- by a model ----

cat >wrong.txt <<'END'
=== new
Here it is:
```op
op square
dim N=64
in X: f32[N]
Y[i] = X[i] * Z[i]
out Y
```
END
cat wrong.txt - >mended.txt <<'END'
=== new
```op
op square
dim N=64
in X: f32[N]
Y[i] = X[i] * X[i]
out Y
```
END
expect 'a mistake goes back once' 0 "$HONE" new 'the square of each element' --model scripted:mended.txt -o square.op
says out 'and the program is written' 'Drafted by scripted:mended.txt, checked'
check 'which is one' '"$HONE" task square.op >task'
cat wrong.txt wrong.txt >twice.txt
expect 'two mistakes are no program' 1 "$HONE" new squares --model scripted:twice.txt -o none.op
says err 'and it says so' 'second draft is no program either'
check 'nothing is written' '! [ -e none.op ]'
expect 'a model that is none' 2 "$HONE" new squares --model nobody -o none.op
finish
