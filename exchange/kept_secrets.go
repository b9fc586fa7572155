package exchange

import (
	"strings"

	"pingpost/config"
	"pingpost/config/syntax"
	"pingpost/engine/event"
)

// unsealed reports variables that have no value where the document was read, and of
// which the exchange has sealed none.
func (x *Exchange) checkSealed(built *config.Compiled) error {
	if len(built.Unset) == 0 {
		return nil
	}
	var problems syntax.Problems
	before := x.givenSecrets()
	for i := range built.Unset {
		if kept := &built.Unset[i]; !kept.IsSetting() && !x.hasSealed(kept, before) {
			problems = append(problems, kept.Problem)
		}
	}
	if len(problems) > 0 {
		return &problems
	}
	return nil
}

// given are the secrets of the document in force, with their variables.
func (x *Exchange) givenSecrets() map[config.SecretOrigin]bool {
	source, err := config.ParseCanonical(x.documentInForce())
	if err != nil {
		return nil
	}
	return config.SecretOrigins(source.Document)
}

// sealed reports whether the exchange has what the variable gave once.
func (x *Exchange) hasSealed(kept *config.UnsetVariable, before map[config.SecretOrigin]bool) bool {
	if !kept.HadValue(before) {
		return false
	}
	if kept.Credential == nil {
		_, ok := x.state.Secret(kept.Secret)
		return ok
	}
	c := kept.Credential
	ref := x.state.RefOf(c.Owner, c.OwnerID)
	if c.Kind == event.CredentialBearer { // known by its hash alone
		return len(x.state.CredentialsOf(c.Kind, c.Owner, ref)) > 0
	}
	return x.state.HadCredential(&event.CredentialSet{Credential: c.Kind, Owner: c.Owner, OwnerRef: ref, Client: c.ClientID})
}

// followed lists the variables of addresses to which a document gives another value. A
// line has no value in it.
func (x *Exchange) changedVariables(firsts *config.InitialValues) (lines []string) {
	for i := range firsts.Secrets {
		first := &firsts.Secrets[i]
		if _, known := x.state.Secret(first.Name); first.Follows && known && x.secretDiffers(first) {
			parts := strings.Split(first.Name, "/")
			lines = append(lines, "~ "+entryPath(parts[0]+"s", parts[1])+": the variable "+parts[3]+" has another value")
		}
	}
	return lines
}

// differs reports whether a secret has another value than the one in force.
func (x *Exchange) secretDiffers(first *config.InitialSecret) bool {
	sealed, ok := x.state.Secret(first.Name)
	if !ok {
		return true
	}
	value, err := x.vault.Open(first.Name, sealed)
	return err != nil || value != first.Value.Reveal()
}
