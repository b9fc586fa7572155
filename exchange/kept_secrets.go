package exchange

import (
	"strings"

	"pingpost/config"
	"pingpost/config/canonical"
	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/event"
)

// checkUnsetSecretVariables returns an error for each variable of a secret that has no value in the
// environment. It accepts such a variable if the exchange has stored the secret's value from an
// earlier configuration.
func (x *Exchange) checkUnsetSecretVariables(built *config.CompiledDocument) error {
	if len(built.Unset) == 0 {
		return nil
	}
	var problems syntax.Problems
	before := x.activeSecretsAndVariables()
	for i := range built.Unset {
		if kept := &built.Unset[i]; !kept.IsSetting() && !x.hasStoredValueOfUnsetVariable(kept, before) {
			problems = append(problems, kept.Problem)
		}
	}
	if len(problems) > 0 {
		return &problems
	}
	return nil
}

// activeSecretsAndVariables returns the secrets in the active document, each with the variable
// that gave its value.
func (x *Exchange) activeSecretsAndVariables() map[config.SecretWithSourceVariable]bool {
	source, err := config.ParseStoredDocument(x.activeOrLastActiveConfigJSON())
	if err != nil {
		return nil
	}
	return config.FindSecretsAndVariables(source.Document)
}

// hasStoredValueOfUnsetVariable reports whether the exchange has stored the value that an unset
// variable gave to the same secret earlier. activeSecrets is the result of
// activeSecretsAndVariables.
func (x *Exchange) hasStoredValueOfUnsetVariable(variable *config.UnsetEnvironmentVariable, activeSecrets map[config.SecretWithSourceVariable]bool) bool {
	if !variable.MayHaveStoredValue(activeSecrets) {
		return false
	}
	if variable.Credential == nil {
		_, ok := x.state.SealedSecret(variable.Secret)
		return ok
	}
	c := variable.Credential
	ref := x.state.RefOf(c.Owner, c.OwnerID)
	if c.Kind == event.CredentialBearer { // known by its hash alone
		return len(x.state.CredentialsOf(c.Kind, c.Owner, ref)) > 0
	}
	return x.state.HasCredentialEverExisted(&event.CredentialAddedOrRevoked{Credential: c.Kind, Owner: c.Owner, OwnerRef: ref, Client: c.ClientID})
}

// listChangedEndpointVariables lists the variables in endpoints' addresses with values that differ
// from the stored ones. These values follow the environment, unlike other secrets. The lines
// contain no value.
func (x *Exchange) listChangedEndpointVariables(initial *config.InitialValues) (lines []string) {
	for i := range initial.Secrets {
		first := &initial.Secrets[i]
		if _, known := x.state.SealedSecret(first.Name); first.Follows && known && x.differsFromStoredSecret(first) {
			parts := strings.Split(first.Name, "/")
			lines = append(lines, "~ "+entryPath(parts[0]+"s", parts[1])+": the variable "+parts[3]+" has another value")
		}
	}
	return lines
}

// differsFromStoredSecret reports whether a secret of the configuration differs from the value that
// the exchange has stored encrypted. A missing or undecryptable value differs.
func (x *Exchange) differsFromStoredSecret(initial *config.InitialOutboundSecret) bool {
	sealed, ok := x.state.SealedSecret(initial.Name)
	if !ok {
		return true
	}
	value, err := x.vault.OpenSecret(initial.Name, sealed)
	return err != nil || value != initial.Value.Reveal()
}

// warningsOfRemovedAuth returns a warning for each buyer that has auth in the active document and
// none in the new one. The log keeps the secret, but requests to the buyer no longer carry it.
func (x *Exchange) warningsOfRemovedAuth(newDocument *schema.Document) (warnings syntax.Problems) {
	active, err := config.ParseStoredDocument(x.activeOrLastActiveConfigJSON())
	if err != nil {
		return nil //nolint:nilerr // no document is active yet, so no credential is removed
	}
	for _, id := range newDocument.FindBuyersWithRemovedAuth(active.Document) {
		ref := canonical.EntryRef{Kind: canonical.Buyers, ID: id}
		warnings = append(warnings, syntax.Problem{
			File: x.path, Path: ref.String() + ".auth",
			Message: "is missing: requests to the buyer will carry no credential; to keep the present one, send auth as GET and export show it",
		})
	}
	return warnings
}
