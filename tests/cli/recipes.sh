# hone recipes: which there are, what one says, what is wrong with one's own.
. "${0%/*}/lib.sh"

HOME=$scratch/home
export HOME
unset XDG_CONFIG_HOME HONE_RECIPE
own=home/.config/hone/recipes

expect 'the list' 0 "$HONE" recipes
check 'the default comes first' 'head -n 1 out | grep -q "^  hone  *default: builtin first"'
says out 'a paper' 'a coder and a critic, ten rounds, curated figures'
check 'its number' 'grep "^  cudaforge " out | grep -q "  2511.01884$"'
check 'all files are listed' '[ "$(grep -c "^  " out)" -eq "$(ls "$ROOT/recipes" | wc -l)" ]'
says out 'how many' "$(ls "$ROOT/recipes" | wc -l) recipes. hone recipes NAME prints its file and what each line does."
says out 'where ones own go' 'Your own: ~/.config/hone/recipes/'
check 'it fits 100 columns' '! grep -q ".\{101\}" out'
check 'nothing on stderr' '[ ! -s err ]'

# Every file: whatever is printed at its margin is the file itself.
for file in "$ROOT"/recipes/*; do
    name=${file##*/}
    expect "$name" 0 "$HONE" recipes "$name"
    check "$name: it is the file" "grep -v '^        ' out >shown; grep -v '^        ' $file | cmp - shown"
    expect "$name --plain" 0 "$HONE" recipes "$name" --plain
    check "$name: nothing else" "cmp out $file"
done
expect 'one' 0 "$HONE" recipes stark
says out 'its line' 'select    = epsilon 0.3             # 0.3 to 0.4'
says out 'what it does' '        whom it goes on from where there is a choice: epsilon, epsilon 0.3'

expect 'as JSON' 0 "$HONE" recipes cudaforge --json
for field in '{"name":"cudaforge"' '"paper":"2511.01884"' '"topology":"linear"' '"rounds":10' \
    '"role":"critic"' '"when":["failing"]' '"returns":["file"]'; do
    says out "JSON has $field" "$field"
done
expect 'all as JSON' 0 "$HONE" recipes --json
says out 'a list' '{"recipes":[{"name":"hone"'
if command -v python3 >/dev/null; then
    check 'it is JSON' 'python3 -m json.tool out'
fi

expect 'a typing error' 2 "$HONE" recipes strak
says err 'is seen' 'strak: no such recipe; did you mean stark?'

mkdir -p "$own"
printf 'recipe = mine\nlike = stark\n[phase search]\nrounds = 3\n' >"$own/mine"
expect 'ones own' 0 "$HONE" recipes mine
expect 'is listed' 0 "$HONE" recipes
check 'by its name' 'grep -q "^  mine" out'
HONE_RECIPE=mine
export HONE_RECIPE
expect 'the setting' 0 "$HONE" recipes
check 'makes it the default' 'head -n 1 out | grep -q "^  mine  *default: "'
unset HONE_RECIPE

printf 'recipe = mine\n\ntopology = beem\n[role coder]\nsees = task\n' >"$own/mine"
expect 'a mistake' 2 "$HONE" recipes mine
says err 'has its line' 'recipes/mine:3: topology = beem: no such topology; did you mean beam?'
expect 'in the list too' 2 "$HONE" recipes
says err 'it is told' 'recipes/mine:3: topology = beem'
check 'and the others are shown' 'grep -q "^  stark " out && ! grep -q "^  mine" out'
cp "$own/mine" ./mine.txt
expect 'a file anywhere' 2 "$HONE" recipes ./mine.txt
says err 'is named' './mine.txt:3: topology = beem'

expect 'the keys' 0 "$HONE" recipes --keys
check 'doc/recipes.md has the same tables' '
    grep "^|" out >rows
    grep -v "^|---" rows | grep -vxFf "$ROOT/doc/recipes.md" >missing
    [ -s rows ] && ! [ -s missing ] || { cat missing; false; }'
check 'doc/recipes.md names every recipe' '
    for file in "$ROOT"/recipes/*; do
        grep -q "^| \`${file##*/}\` |" "$ROOT/doc/recipes.md" || { echo "$file"; exit 1; }
    done'

finish
