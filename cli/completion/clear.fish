# Completion of clear(1) for fish. The program says what fits: `clear help --complete` reads the tables of its options and the warehouse.
# Install this file as ~/.config/fish/completions/clear.fish.
function __clear_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    # Of --option=value the shell completes the value alone.
    set -l value (string replace -r -- '^-[^=]*=' '' "$word")
    set -l before (string sub -l (math (string length -- "$word") - (string length -- "$value")) -- "$word")
    for line in ($words[1] help --complete -- $words[2..-1] "$word" 2>/dev/null)
        switch $line
            case ':file'
                for path in (__fish_complete_path $value)
                    echo -- $before$path
                end
            case ':directory'
                for path in (__fish_complete_directories $value)
                    echo -- $before$path
                end
            case ':program'
                complete -C "$value"
            case '*'
                echo -- $line
        end
    end
end
complete -c clear -f -a '(__clear_complete)'
