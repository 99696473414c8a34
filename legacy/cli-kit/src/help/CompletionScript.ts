/** The completion scripts for bash, zsh and fish. They call the program's hidden command of `Complete`. */
import { command, files } from "./Complete.ts"

const bash = (name: string, id: string): string =>
  `# Completions of ${name} for bash: eval "$(${name} completions bash)" in ~/.bashrc
_${id}() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ${files} ]]; then
      compopt -o default 2>/dev/null
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <("\${COMP_WORDS[0]}" ${command} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _${id} ${name}
`

const zsh = (name: string, id: string): string =>
  `#compdef ${name}
# Completions of ${name} for zsh: eval "$(${name} completions zsh)" in ~/.zshrc, behind compinit
_${id}() {
  local line
  local -a found
  for line in "\${(@f)$("\${words[1]}" ${command} "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == ${files} ]]; then
      _files
      return
    fi
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe '${name}' found
}
if [[ $funcstack[1] == _${id} ]]; then
  _${id} "$@"
else
  compdef _${id} ${name}
fi
`

const fish = (name: string, id: string): string =>
  `# Completions of ${name} for fish: ${name} completions fish > ~/.config/fish/completions/${name}.fish
function __${id}_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] ${command} $words[2..-1] 2>/dev/null)
        if test "$line" = ${files}
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c ${name} -f -a '(__${id}_complete)'
`

export const shells = ["bash", "zsh", "fish"] as const

export type Shell = (typeof shells)[number]

const scripts = { bash, zsh, fish }

/** The script for a shell. */
export const script = (name: string, shell: Shell): string => scripts[shell](name, name.replace(/\W/g, "_"))
