/// The completion scripts for shells. They call the command for each word, so they need not change with it.
enum CompletionScript: String, CaseIterable {
  case bash, zsh, fish

  var text: String {
    switch self {
    case .bash: Self.bashText
    case .zsh: Self.zshText
    case .fish: Self.fishText
    }
  }

  private static let bashText = #"""
    # Completes the command switchboard in bash.
    _switchboard() {
      local IFS=$'\n' line letter quote= word=
      local text=${COMP_LINE:0:COMP_POINT}
      local -a words=()
      local -i index
      # Colons and equals signs split words in bash; the line up to the cursor has them whole, and with their quotes.
      for ((index = 0; index < ${#text}; index++)); do
        letter=${text:index:1}
        case $quote$letter in
          '\') index+=1; word+=${text:index:1} ;;
          '"' | "'") quote=$letter ;;
          '""' | "''") quote= ;;
          ' ') if [[ -n $word ]]; then words+=("$word"); word=; fi ;;
          *) word+=$letter ;;
        esac
      done
      words+=("$word")
      COMPREPLY=()
      while IFS=$'\t' read -r line _; do
        case $line in
          :file) compopt -o default; COMPREPLY=(); return ;;
          :directory) compopt -o dirnames; COMPREPLY=(); return ;;
        esac
        # What bash takes for the current word begins after the last colon or equals sign.
        local cut=${word%"${word##*[:=]}"}
        COMPREPLY+=("${line#"$cut"}")
      done < <(switchboard complete -- "${words[@]:1}" 2>/dev/null)
    }
    complete -F _switchboard switchboard
    """#

  private static let zshText = #"""
    #compdef switchboard
    # Completes the command switchboard in zsh.
    _switchboard() {
      local -a found
      local line name text
      while IFS= read -r line; do
        case $line in
          :file) _files; return ;;
          :directory) _files -/; return ;;
        esac
        name=${line%%$'\t'*}
        text=${line#*$'\t'}
        [[ $text == $line ]] && text=
        found+=("${name//:/\\:}${text:+:$text}")
      done < <(switchboard complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
      _describe switchboard found
    }
    if [ "$funcstack[1]" = "_switchboard" ]; then _switchboard "$@"; else compdef _switchboard switchboard; fi
    """#

  private static let fishText = #"""
    # Completes the command switchboard in fish.
    function __switchboard_complete
      set -l words (commandline -opc) (commandline -ct)
      for line in (switchboard complete -- $words[2..-1] 2>/dev/null)
        switch $line
          case :file
            __fish_complete_path (commandline -ct)
          case :directory
            __fish_complete_directories (commandline -ct)
          case '*'
            echo $line
        end
      end
    end
    complete -c switchboard -f -a '(__switchboard_complete)'
    """#
}
