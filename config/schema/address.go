package schema

import (
	"regexp"

	"pingpost/config/syntax"
)

// OutboundURL is a URL that the exchange calls. A ${NAME} in it is a secret: the value is stored
// encrypted, and every written form of the document keeps ${NAME}. In memory, two characters
// that no text may contain replace the braces of such a reference. So a plain ${ can be told
// apart from it.
type OutboundURL string

func (a *OutboundURL) decodeNode(n *syntax.Node) error {
	if !n.Expanded {
		return readText(n, (*string)(a))
	}
	text, _, err := syntax.ExpandVariables(n.Raw, func(name string) (string, bool) {
		return "$" + string(syntax.EscapedOpenBrace) + name + string(syntax.EscapedCloseBrace), true
	})
	*a = OutboundURL(text)
	return err
}

var addressVariable = regexp.MustCompile(`\$` + string(syntax.EscapedOpenBrace) + `(\w+)` + string(syntax.EscapedCloseBrace))

// ReplaceVariables returns the address with each variable replaced by the result of calling
// replacementOf with its name.
func (a OutboundURL) ReplaceVariables(replacementOf func(name string) string) string {
	return addressVariable.ReplaceAllStringFunc(string(a), func(reference string) string {
		return replacementOf(addressVariable.FindStringSubmatch(reference)[1])
	})
}

// VariableNames returns the names of the variables in the address.
func (a OutboundURL) VariableNames() (names []string) {
	for _, reference := range addressVariable.FindAllStringSubmatch(string(a), -1) {
		names = append(names, reference[1])
	}
	return names
}
