# Completion of clear(1) for bash: source it, or install it as share/bash-completion/completions/clear.
# It asks the program itself (`clear help --complete`), so it is never out of step with the commands.
_clear() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local clear=${COMP_WORDS[0]} words
    if ((COMP_CWORD == 1)) || [[ $COMP_CWORD == 2 && $command == help ]]; then
        words=$("$clear" help --complete 2>/dev/null)
    elif ((COMP_CWORD == 2)) && [[ $command == report && $word != -* ]]; then
        words="text top tree peek= list= weblist= disasm= traces tags raw comments dot svg png pdf ps gif callgrind proto topproto folded json"
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"; compgen -f -- "$word") # or a target, for the prompt
        return
    elif [[ $previous == --format ]]; then
        words="table csv json jsonl markdown"
    elif [[ $previous == --kind ]]; then
        words="heap lock mvcc channels cpu mutex block"
    elif [[ $previous == --by-tag ]]; then
        words="commit branch"
    elif [[ $previous == --cpu ]]; then
        words="99 off perf"
    elif [[ $previous == --start ]]; then
        words="on off"
    elif [[ $previous == --by ]]; then
        words="bytes allocs inuse_bytes inuse_allocs"
    elif [[ $previous == --follow ]]; then
        words="all none"
    elif [[ $previous == --http ]]; then
        words="127.0.0.1:6060 :0"
    elif [[ $previous == --windows ]]; then
        words="64 all"
    elif [[ $word == -* ]]; then
        words=$("$clear" help --complete "$command" 2>/dev/null)
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        compopt -o filenames 2>/dev/null
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _clear clear
