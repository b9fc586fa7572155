package schema

import (
	"regexp"

	"pingpost/config/syntax"
)

// Address is a URL that the exchange calls. ${NAME} in it is a secret: it stays ${NAME}
// wherever the document is written, and the value is sealed. The braces of a reference
// are the two characters that no text may hold, so that a plain ${ is none.
type Address string

func (a *Address) read(n *syntax.Node) error {
	if !n.Expanded {
		return readText(n, (*string)(a))
	}
	text, _, err := syntax.Expand(n.Raw, func(name string) (string, bool) {
		return "$" + string(syntax.HiddenOpen) + name + string(syntax.HiddenClose), true
	})
	*a = Address(text)
	return err
}

var addressVariable = regexp.MustCompile(`\$` + string(syntax.HiddenOpen) + `(\w+)` + string(syntax.HiddenClose))

// ReplaceVariables writes each variable of an address as the function has it.
func (a Address) ReplaceVariables(instead func(name string) string) string {
	return addressVariable.ReplaceAllStringFunc(string(a), func(reference string) string {
		return instead(addressVariable.FindStringSubmatch(reference)[1])
	})
}

// VariableNames are the names of the variables in an address.
func (a Address) VariableNames() (names []string) {
	for _, reference := range addressVariable.FindAllStringSubmatch(string(a), -1) {
		names = append(names, reference[1])
	}
	return names
}
