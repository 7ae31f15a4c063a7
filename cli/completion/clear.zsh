#compdef clear
# Completion of clear(1) for zsh. The program says what fits: `clear help --complete` reads the tables of its options and the warehouse.
# Install this file as _clear in a directory of $fpath.
_clear() {
    local line word
    local -a finished=() finished_shown=() open=() open_shown=()
    local -i wants_files=0 wants_directories=0 wants_programs=0
    for line in ${(f)"$(_call_program clear ${(q)words[1]} help --complete -- ${(q)${(@Q)words[2,CURRENT-1]}} ${(q)${(Q)PREFIX}:-''})"}; do
        word=${line%%$'\t'*}
        case $line in
        :file) wants_files=1 ;;
        :directory) wants_directories=1 ;;
        :program) wants_programs=1 ;;
        *=|*:|*=$'\t'*|*:$'\t'*) open+=("$word"); open_shown+=("${line/$'\t'/  -- }") ;;
        *) finished+=("$word"); finished_shown+=("${line/$'\t'/  -- }") ;;
        esac
    done
    (( ! $#finished )) || compadd -l -d finished_shown -- "${(@)finished}"
    (( ! $#open )) || compadd -S '' -l -d open_shown -- "${(@)open}"
    [[ $PREFIX != -*=* ]] || compset -P 1 '*='
    (( ! wants_files )) || _files
    (( ! wants_directories )) || _files -/
    (( ! wants_programs )) || _command_names -e
}
_clear "$@"
