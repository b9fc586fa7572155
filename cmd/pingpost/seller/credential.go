package seller

import (
	"errors"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

const credentialHelp = `Who you are is said in one way; two among the flags are refused. A flag goes
before what the environment has, and of that a token before a client. Where there
was a choice, standard error says what it came to.`

// method is the kind of a caller's credential.
type method uint8

const (
	byNothing method = iota
	byToken
	byClient
	byKey
)

// identity is the chosen credential.
type identity struct {
	way method
	why string // the reason, if the environment has another one as well
}

// AfterApply records the flags on the command line. The kong library calls it after parsing.
func (f *sellerFlags) AfterApply(ctx *kong.Context) error {
	f.written = f.written[:0]
	for _, step := range ctx.Path {
		if step.Flag != nil {
			f.written = append(f.written, step.Flag.Name)
		}
	}
	return nil
}

// credential chooses the kind of credential. apiKey is empty for commands without API keys. The
// chosen client may still lack its secret.
func (f *sellerFlags) credential(apiKey string) (identity, error) {
	ways := [...]struct {
		way      method
		given    bool
		flags    []string
		variable string
	}{
		{byToken, f.Token != "", []string{"token"}, "PINGPOST_TOKEN"},
		{byClient, f.ClientID != "", []string{"client-id", "client-secret"}, "PINGPOST_CLIENT_ID"},
		{byKey, apiKey != "", []string{"api-key"}, "PINGPOST_API_KEY"},
	}
	var flags, unused []string
	var chosen identity
	by := ""
	for _, w := range ways {
		if i := slices.IndexFunc(w.flags, f.isWritten); i >= 0 {
			flags = append(flags, "--"+w.flags[i])
			chosen.way, by = w.way, "--"+w.flags[i]
		}
	}
	if len(flags) > 1 {
		return identity{}, errors.New(strings.Join(flags, " and ") + " say in two ways who you are; give one of them")
	}
	for _, w := range ways {
		switch {
		case !w.given || w.way == chosen.way:
		case chosen.way == byNothing:
			chosen.way, by = w.way, w.variable
		default:
			unused = append(unused, w.variable)
		}
	}
	if len(unused) > 0 {
		chosen.why = f.nameOf(chosen.way) + ", by " + by + "; left unused: " + strings.Join(unused, ", ")
	}
	return chosen, nil
}

func (f *sellerFlags) isWritten(flag string) bool { return slices.Contains(f.written, flag) }

// nameOf describes the caller without secrets.
func (f *sellerFlags) nameOf(w method) string {
	switch w {
	case byToken:
		return "the token's owner"
	case byClient:
		return "client " + f.ClientID
	case byKey:
		return "the API key's supplier"
	}
	return "nobody"
}
