# hone import and hone export pytorch|kernelbench: what needs PyTorch is skipped where there is none.
. "${0%/*}/lib.sh"

# ---- without PyTorch ----

HONE_TORCH=$PWD/nowhere
export HONE_TORCH
printf 'import torch\n' >module.py
expect 'import without PyTorch' 3 "$HONE" import kernelbench module.py
is_text err 'says so in one line' \
    "PyTorch is not installed in $PWD/nowhere; type  ./run setup-torch"
expect 'something else' 2 "$HONE" import onnx module.py
says err 'cannot be imported' 'write hone import kernelbench FILE.py'
expect 'no such file' 2 "$HONE" import kernelbench none.py
expect 'a mode that is none' 2 "$HONE" import kernelbench module.py --mode both
says err 'is told' 'write eval or train'
printf 'torch = /tmp\n' >.hone
expect 'a folder that would have its own programs run' 2 "$HONE" import kernelbench module.py
says err 'is refused' 'write it into config in your configuration folder'
rm .hone

cat >norm.op <<'END'
op norm
dim R=4, N=40
in X: f32[R,N]
in T: i32[R] from 0 to N-1
M[r] = mean[j](X[r,j])
Y[r,j] = exp(X[r,j] - M[r])
Z[r] = X[r,T[r]]
out Y, Z
END
cat >norm.c <<'END'
void
kernel(const float *restrict X, const int32_t *restrict T, float *restrict Y, float *restrict Z)
{
    for (int r = 0; r < R; r++) {
        float sum = 0;
        for (int j = 0; j < N; j++)
            sum += X[r * N + j];
        for (int j = 0; j < N; j++)
            Y[r * N + j] = expf(X[r * N + j] - sum / N);
        Z[r] = X[r * N + T[r]];
    }
}
END
expect 'a kernel as an operator of PyTorch' 0 "$HONE" export pytorch norm.c -o made
check 'is a folder' '[ -f made/norm.py ] && [ -f made/kernel.c ] && [ -f made/plain.c ] && [ -f made/test.py ]'
expect 'whose kernel builds' 0 gcc -O2 -march=native -fopenmp -shared -fPIC made/kernel.c -o k.so -lm
expect 'and whose plain C builds' 0 gcc -O2 -march=native -fopenmp -shared -fPIC made/plain.c -o p.so -lm
expect 'a kernel as ModelNew' 0 "$HONE" export kernelbench norm.c norm.op --json
says out 'is one file' '"files":["norm_new.py"]'
says norm_new.py 'that holds the kernel' 'Z[r] = X[r * N + T[r]];'
printf 'int x;\n' >no.c
expect 'what is no kernel' 2 "$HONE" export pytorch no.c norm.op
expect 'a kernel without its task' 2 "$HONE" export pytorch no.c
says err 'names the file that is missing' 'no.op'

# ---- with PyTorch ----

HONE_TORCH=${TORCH_ENVIRONMENT:-/nowhere}
python=$HONE_TORCH/bin/python3
if ! "$python" -c 'import torch, numpy' 2>/dev/null; then
    echo 'ok - modules # SKIP PyTorch is not there: ./run setup-torch'
    finish
fi

module()
{
    cat >module.py
    run "$HONE" import kernelbench module.py "$@"
}

refused()
{
    if [ "$code" -eq 2 ] && grep -qF -e "$2" err; then
        pass "$1"
    else
        fail "$1"
        echo "# exit code $code"
        quote err
    fi
}

# networks whose layers are told by the weights there are ask for them by name
expect 'models of suites know their inputs' 0 env PYTHONPATH="$ROOT/bridge" "$python" -c '
from worker.suite import Inputs
inputs = Inputs({"F1": 1})
assert "F1" in inputs and "F2" not in inputs and inputs.F1 == inputs["F1"] == 1'

cat >sizes.py <<'END'
from worker.dims import candidates
from worker.module import constants
found = constants('''
batch, (height, width) = 16, (224, 224)
input_shape = (8, 3, 100, 128)
rows = 16 * 3
columns: int = 7
kept: int
input_shape = (2 ** 13,)
hidden_sizes = [512] * 2 + [64]
channels = [64, 128, 256, 512]
def helper():
    return f(1, 2, 3, 4)
def get_inputs():
    return [torch.rand(10, 3, 96, batch), torch.rand(20, 30)]
''')
assert list(found.values()) == [16, 224, 224, 8, 100, 128, 48, 7, 8192, 512, 64, 10, 96], found
assert list(found)[:3] == ["batch", "height", "width"], found
tried = candidates(found)
assert all(64 <= one["height@3:21"] <= 68 for one in tried[:4]), tried[0]
assert any(one["height@3:21"] == 100 and one["height"] == 8 for one in tried), tried
END
expect 'sizes of a module are found' 0 env PYTHONPATH="$ROOT/bridge" "$python" sizes.py

expect 'the exported operator is tested' 0 "$python" made/test.py
says out 'and is the same' 'the same'

module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        return torch.sort(y)[0]
def get_inputs():
    return [torch.randn(5)]
END
refused 'what cannot be translated is named with its line' 'module.py:5: sort cannot be translated'
module <<'END'
import torch
open("/tmp/left_behind_by_a_module", "w").write("x")
open("/left_behind", "w").write("x")
END
refused 'files cannot be written' 'module.py:3: it cannot be run: it reaches for files'
check 'and nothing is left behind' '[ ! -e /tmp/left_behind_by_a_module ]'
module <<'END'
import socket
socket.create_connection(("127.0.0.1", 1))
END
refused 'there is no network' 'module.py:2: it cannot be run: it reaches for files or the network'
module <<'END'
import torch
def get_inputs():
    return [torch.ones(5000, 5000, 1000)]
class Model(torch.nn.Module):
    def forward(self, x):
        return x
END
refused 'memory has an end' 'module.py:3: get_inputs() fails: it needs more memory'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + torch.ones(25, 1000, 1000, 1000)
def get_inputs():
    return [torch.ones(1)]
END
refused 'also in forward()' 'module.py:4: forward() fails: it needs more memory'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x
END
refused 'inputs are needed' 'it has no get_inputs; write def get_inputs()'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x
def get_inputs():
    x = torch.ones(5)
END
refused 'and returned' 'get_inputs() returns nothing; write return [x, ...]'
module --time 20 <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        while True:
            x = x + 1
def get_inputs():
    return [torch.ones(5)]
END
check 'a loop without end ends' '[ "$code" -eq 3 ] && grep -q "no end after 20 s" err'
module <<'END'
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4).cuda()
def get_inputs():
    return [torch.ones(4)]
END
refused 'a GPU is not there' 'module.py:5: it asks for a GPU'

module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        raise KeyboardInterrupt
def get_inputs():
    return [torch.ones(5)]
END
refused 'what ends Python ends the module only' 'module.py:4: forward() fails: KeyboardInterrupt'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x[x > 0]
def get_inputs():
    return [torch.randn(50)]
END
refused 'sizes that hang on values are named with their line' 'module.py:4: how large the result of'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + torch.randn(50)
def get_inputs():
    return [torch.randn(50)]
END
refused 'random numbers are named with what to write' 'module.py:4: randn is random; make these numbers in'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x
def get_inputs():
    return [torch.randn(50)]
END
refused 'and so are branches' 'module.py:4: what it does hangs on the values of a tensor; write torch.where()'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x[:0] * 2
def get_inputs():
    return [torch.ones(5)]
END
refused 'results have elements' 'forward() returns a tensor without elements'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x
get_inputs = [torch.ones(5)]
END
refused 'get_inputs is a function' 'get_inputs is a value of type list; write def get_inputs()'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x
def get_inputs():
    return [torch.ones(5)]
def get_init_inputs():
    return 5
END
refused 'arguments are a list' 'get_init_inputs() returns a value of type int; write return [...]'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x, t):
        return torch.nn.functional.cross_entropy(x, t, ignore_index=2, label_smoothing=0.1)
def get_inputs():
    return [torch.randn(5, 4), torch.tensor([0, 1, 2, 3, 2])]
END
refused 'a class that does not count, where there is no rule for it' \
    'module.py:4: a cross entropy with ignore_index and label_smoothing; write it as log_softmax'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.interpolate(x, scale_factor=1.3)
def get_inputs():
    return [torch.randn(1, 1, 12, 12)]
END
refused 'a factor that makes no whole size' 'module.py:4: interpolate with a scale_factor of 1.3'
says err 'and what to write' 'which makes no whole size of 12; write size=(15, 15)'
module <<'END'
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(4, 6, proj_size=3)
    def forward(self, x):
        return self.lstm(x)
def get_inputs():
    return [torch.randn(2, 3, 4)]
END
refused 'an LSTM with projections' 'module.py:7: an LSTM with proj_size; write its steps out'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.adaptive_max_pool2d(x, 2)
def get_inputs():
    return [torch.randn(3, 8, 8)]
END
refused 'arguments that a rule does not know are named with their line' \
    'module.py:4: adaptive_max_pool2d cannot be translated in this form; write it with other operators'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x, t):
        return x[t]
def get_inputs():
    return [torch.randn(5, 4), torch.tensor([0, 1, -1])]
END
refused 'subscripts that the program cannot bear' \
    'module.py: input T: element [2] is -1; the elements of T lie in 0..4'
module <<'END'
import torch
batch = 16
class Model(torch.nn.Module):
    def forward(self, x, t):
        return torch.nn.functional.cross_entropy(x, t)
def get_inputs():
    return [torch.randn(batch, 4), torch.tensor([1, -100] * (batch // 2))]
END
refused 'also at smaller sizes' 'module.py: input T: element [1] is -100; the elements of T lie in 0..3'
module <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1, torch.log(-x)
def get_inputs():
    return [torch.rand(50) + 1]
END
check 'outputs of NaN alone are not accepted' \
    '[ "$code" -eq 1 ] && grep -q "every element of Log is NaN or infinite in PyTorch" err'
module <<'END'
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.full((50,), 2.0))
    def forward(self, x):
        return x * torch.log(self.scale)
def get_inputs():
    return [torch.randn(50)]
END
check 'parameters above zero are drawn above zero' \
    '[ "$code" -eq 0 ] && grep -q "scale: f32\[50\] from 0.5 to 1.5" module.op'
rm -f module.op
printf 'import torch\n# caf\351\n' >module.py
run "$HONE" import kernelbench module.py
refused 'what is no UTF-8' 'module.py:2: it is not UTF-8'
printf 'import torch\nx = 1\0\n' >module.py
run "$HONE" import kernelbench module.py
refused 'a byte that is zero' 'module.py: it has a byte that is zero'
module <<'END'
import os
os.abort()
END
check 'what dies is said' '[ "$code" -eq 3 ] && grep -q "ended of signal 6" err'
printf '\357\273\277' >'größe 2.py'
cat >>'größe 2.py' <<'END'
import torch
class Model(torch.nn.Module):
    def forward(self, β):
        return β * 2
def get_inputs():
    return [torch.ones(5)]
END
expect 'other letters, and a mark before them' 0 "$HONE" import kernelbench 'größe 2.py' -o letters
check 'are no part of names' '[ -f letters/gr_e_2.op ]'

# ---- a kernel in KernelBench's form, with the weights of its module ----

cat >layer.py <<'END'
import torch
batch = 6
class Model(torch.nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.layer = torch.nn.Linear(n, m)
    def forward(self, x):
        return torch.relu(self.layer(x))
def get_inputs():
    return [torch.randn(batch, 40)]
def get_init_inputs():
    return [40, 16]
END
cat >layer.c <<'END'
void
kernel(const float *restrict X, const float *restrict layer_weight,
       const float *restrict layer_bias, float *restrict Relu)
{
    for (int b = 0; b < B; b++)
        for (int m = 0; m < 16; m++) {
            float sum = layer_bias[m];
            for (int n = 0; n < 40; n++)
                sum += X[b * 40 + n] * layer_weight[m * 40 + n];
            Relu[b * 16 + m] = sum > 0 ? sum : 0;
        }
}
END
cat >compare.py <<'END'
import torch
import layer, layer_new
models = []
for module, name in ((layer, "Model"), (layer_new, "ModelNew")):
    torch.manual_seed(7)
    models.append(getattr(module, name)(*layer.get_init_inputs()))
inputs = layer.get_inputs()
old, new = (model(*inputs).detach() for model in models)
print("the same" if torch.allclose(old, new, atol=1e-5) and old.abs().max() > 0.1 else (old, new))
END
expect 'a module with weights' 0 "$HONE" import kernelbench layer.py -o .
expect 'its kernel as ModelNew' 0 "$HONE" export kernelbench layer.c layer.op --module layer.py
if command -v g++ >/dev/null && command -v ninja >/dev/null; then
    expect 'which PyTorch builds' 0 "$python" compare.py
    says out 'and which is the same as Model' 'the same'
else
    echo 'ok - ModelNew is the same as Model # SKIP load_inline needs g++ and ninja'
fi

# ---- builds that are made beforehand ----

XDG_CACHE_HOME=$PWD/cache HONE_SUITES=$ROOT/suites
export XDG_CACHE_HOME HONE_SUITES HONE_TORCH
expect 'a task in a folder of its own' 0 "$HONE" import kernelbench layer.py -o tasks
says tasks/layer.op 'knows its module' '# module: ../layer.py'
sed -i 's/B=6/B=12/' tasks/layer.op
expect 'which is its baseline' 1 "$HONE" bench tasks/layer.op --prepare
says err 'but not at other sizes' 'X is 6x40 in the module and 12x40 in the program'
expect 'builds are prepared' 0 "$HONE" bench kernelbench/1:19 --prepare
says out 'and counted' "1 of 1 tasks: PyTorch's builds are there"
check 'a package is kept' '[ "$(ls cache/hone/packages | grep -c "\.pt2$")" -eq 1 ]'
package=$(ls cache/hone/packages)
touch -d '2020-01-01' "cache/hone/packages/$package"
expect 'a second time' 0 "$HONE" bench kernelbench/1:19 --prepare
check 'it is used, not made anew' '[ "$(ls cache/hone/packages)" = "$package" ]'
check 'and was used last now' '[ "$(find cache/hone/packages -newermt 2021-01-01 -name "*.pt2" | wc -l)" -eq 1 ]'
unset XDG_CACHE_HOME

# ---- modules of tests/import/, two at a time; IMPORT_ALL=1 takes all of them, six minutes ----

some='activations conv2d conv_transpose fused_attention gathers large_sizes layer_norms literal_sizes
    losses lstm matmul rearranged residual_block shrinking_images stacked_steps'
if [ "${IMPORT_ALL:-}" ]; then
    some=$(cd "$ROOT/tests/import" && ls | sed -n 's/\.py$//p')
fi
if ! "$python" -c 'import einops' 2>/dev/null; then
    some=$(printf '%s\n' $some | grep -vx rearranged)
    echo 'ok - import of rearranged # SKIP einops is not there: ./run setup-torch says how'
fi
cat >one.sh <<'END'
name=$1
if "$HONE" import kernelbench "$ROOT/tests/import/$name.py" -o "made_$name" >"$name.out" 2>&1; then
    echo "ok - import of $name"
else
    echo "not ok - import of $name"
    sed 's/^/#   /' "$name.out"
fi
END
export HONE ROOT
printf '%s\n' $some | xargs -P 2 -n 1 sh one.sh >imports
cat imports
check 'none is missing' '[ "$(grep -c "^ok" imports)" -eq "$(echo $some | wc -w)" ]'
grep -q '^not ok' imports && failures=$((failures + 1))
says made_literal_sizes/literal_sizes.op 'sizes without a name are dims' 'B=16, H=224, W=192'
says made_large_sizes/large_sizes.op 'sizes in shapes, products and lists are dims' \
    'dim B=65536, N=16384, Hidden=32768, Hidden2=16384'
says made_large_sizes/large_sizes.op 'and large inputs are described' 'among -1, 1'
says made_stacked_steps/stacked_steps.op 'steps are pieces' '[i,j]:1,'
says shrinking_images.out 'images keep more than a pixel' '(small, double precision)'
expect 'training mode is another program' 0 \
    "$HONE" import kernelbench "$ROOT/tests/import/residual_block.py" --mode train -o train
check 'with the statistics of the data' '! grep -q running_mean train/*.op && grep -q batch_norm train/*.op'
expect 'a file that is there' 2 "$HONE" import kernelbench "$ROOT/tests/import/matmul.py" -o made_matmul
says err 'is not overwritten' 'write --force'
finish
