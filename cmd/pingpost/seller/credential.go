package seller

import (
	"errors"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

const credentialHelp = `Give one credential: flags with two of them are an error. A flag takes precedence
over the environment, and there a token over a client. If there was a choice,
standard error names the credential that was used.`

// credentialKind is the kind of credential that a request carries: a token, an OAuth client,
// an API key, or none.
type credentialKind uint8

const (
	byNothing credentialKind = iota
	byToken
	byClient
	byKey
)

// chosenCredentialKind is the kind of credential that a request will carry.
type chosenCredentialKind struct {
	kind credentialKind
	note string // the reason, if the environment has another one as well
}

// AfterApply records the flags on the command line. The kong library calls it after parsing.
func (f *sellerFlags) AfterApply(ctx *kong.Context) error {
	f.onCommandLine = f.onCommandLine[:0]
	for _, step := range ctx.Path {
		if step.Flag != nil {
			f.onCommandLine = append(f.onCommandLine, step.Flag.Name)
		}
	}
	return nil
}

// chooseCredentialOrNone chooses which of the given credentials a request carries. apiKey is empty
// for commands that accept no API key. A chosen OAuth client may still lack its secret.
func (f *sellerFlags) chooseCredentialOrNone(apiKey string) (chosenCredentialKind, error) {
	ways := [...]struct {
		way      credentialKind
		given    bool
		flags    []string
		variable string
	}{
		{byToken, f.Token != "", []string{"token"}, "PINGPOST_TOKEN"},
		{byClient, f.ClientID != "", []string{"client-id", "client-secret"}, "PINGPOST_CLIENT_ID"},
		{byKey, apiKey != "", []string{"api-key"}, "PINGPOST_API_KEY"},
	}
	var flags, unused []string
	var chosen chosenCredentialKind
	by := ""
	for _, w := range ways {
		if i := slices.IndexFunc(w.flags, func(name string) bool { return slices.Contains(f.onCommandLine, name) }); i >= 0 {
			flags = append(flags, "--"+w.flags[i])
			chosen.kind, by = w.way, "--"+w.flags[i]
		}
	}
	if len(flags) > 1 {
		return chosenCredentialKind{}, errors.New(strings.Join(flags, " and ") + " are two credentials; give only one")
	}
	for _, w := range ways {
		switch {
		case !w.given || w.way == chosen.kind:
		case chosen.kind == byNothing:
			chosen.kind, by = w.way, w.variable
		default:
			unused = append(unused, w.variable)
		}
	}
	if len(unused) > 0 {
		chosen.note = f.describeCaller(chosen.kind) + ", by " + by + "; left unused: " + strings.Join(unused, ", ")
	}
	return chosen, nil
}

// describeCaller names the caller that the exchange will see with this kind of credential.
// The text contains no secret.
func (f *sellerFlags) describeCaller(kind credentialKind) string {
	switch kind {
	case byToken:
		return "the token's owner"
	case byClient:
		return "client " + f.ClientID
	case byKey:
		return "the API key's supplier"
	}
	return "nobody"
}
