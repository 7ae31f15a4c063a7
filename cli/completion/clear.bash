# Completion of clear(1) for bash. The program says what fits: `clear help --complete` reads the tables of its options and the warehouse.
# Source this file, or install it as share/bash-completion/completions/clear.
_clear() {
    local -a words=()
    local rest=${COMP_LINE:0:COMP_POINT} piece word value before stripped line i
    # Bash also splits words at = : @ and others, and replaces the last piece alone. clear takes and gives whole words.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        piece=${COMP_WORDS[i]} line=${rest#"${rest%%[![:blank:]]*}"}
        if ((i == 0)) || [[ $line != "$rest" ]]; then words+=("$piece"); else words[${#words[@]} - 1]+=$piece; fi
        rest=${line#"$piece"}
    done
    word=${words[${#words[@]} - 1]}
    [[ $piece != [=:@\<\>\;\|\&\(] ]] || piece=
    stripped=${word%"$piece"} value=$word
    stripped=${stripped%@} # that one belongs to the piece that is replaced
    [[ $word != -*=* ]] || value=${word#*=}
    before=${word%"$value"}
    _clear_files() { # _clear_files LETTER: those that compgen -LETTER finds, directories with a slash
        while IFS= read -r line; do
            [[ ! -d $line ]] || { line+=/ && compopt -o nospace 2>/dev/null; }
            [[ $piece == [\"\']* ]] || { printf -v line %q "$line" && line=${line/#"\\~"/'~'}; }
            line=$before$line
            COMPREPLY+=("${line#"$stripped"}")
        done < <(compgen "-$1" -- "$value")
    }
    COMPREPLY=()
    while IFS= read -r line <&3; do
        case $line in
        :file) _clear_files f ;;
        :directory) _clear_files d ;;
        :program) _clear_files c ;;
        *)
            line=${line%%$'\t'*}
            [[ $line != *[=:] ]] || compopt -o nospace 2>/dev/null
            COMPREPLY+=("${line#"$stripped"}")
            ;;
        esac
    done 3< <("${words[0]}" help --complete -- "${words[@]:1}" 2>/dev/null)
}
complete -F _clear clear
