# The check of the layers: it accepts this project and finds each way of breaking them.
. "${0%/*}/lib.sh"

layers="$ROOT/tools/lint-layers"

# A project of three layers; src/task/a.c holds the line that is given.
project()
{
    rm -rf src
    mkdir -p src/app src/task src/judge src/base
    printf '# comment\napp\ntask judge # comment\nbase\n' >LAYERS
    echo '#include "task/task.h"' >src/app/main.c
    printf '#include <stdio.h>\n#include "base/buf.h"\n#include "task/task_int.h"\n%s\n' "$1" \
        >src/task/a.c
    echo '#include "base/buf.h"' >src/judge/judge.h
    echo '' >src/base/buf.h
}

refused()
{
    project "$2"
    expect "$1 is refused" 1 "$layers" .
    says out "$1: its place is shown" 'src/task/a.c:4: '
}

expect 'the project keeps its layers' 0 "$layers"
is_silent=$(cat out err)
check 'and nothing is said' '[ -z "$is_silent" ]'
project ''
expect 'a small project keeps them too' 0 "$layers" .
refused 'a layer above' '#include "app/app.h"'
refused 'a neighbour' '#include "judge/judge.h"'
refused 'a private header' '  #  include "base/buf_int.h"'
refused 'a module without a row' '#include "other/other.h"'
refused 'a path without a module' '#include "task.h"'
refused 'a path that climbs' '#include "../app/app.h"'
project ''
mkdir src/stray
echo >src/stray/stray.c
expect 'a folder without a row is refused' 1 "$layers" .
rm LAYERS
expect 'a folder without LAYERS is the caller'\''s mistake' 2 "$layers" .
finish
