package config

import (
	"slices"
	"strings"

	"pingpost/config/canonical"
	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/event"
)

// UnsetEnvironmentVariable is an environment variable that the document names and that has no value in
// this process. The exchange may have stored (sealed) the value at an earlier start, and then
// does not need the variable. It stores no values of settings.
type UnsetEnvironmentVariable struct {
	Problem    syntax.Problem     // to report if the exchange has no value either
	Variable   string             // its name, if the whole value is one ${NAME}
	Secret     string             // name of the sealed value
	Credential *InitialCredential // the initial credential that it gives; a setting has neither

	// address is the whole address, if the variable is part of the host. The document in
	// force must have the same address: another one could direct the value to any host.
	address schema.OutboundURL
}

// IsSetting reports whether the variable belongs to a setting. It must then have a value,
// because the exchange stores no values of settings.
func (k *UnsetEnvironmentVariable) IsSetting() bool { return k.Secret == "" && k.Credential == nil }

// SecretWithSourceVariable identifies a secret of a document and the variable that gave its value.
// variable is empty if there was none, if an older version wrote the document without its name, or
// if address is set: secret then contains the name.
type SecretWithSourceVariable struct {
	secret   string // full name of a sealed secret; for credentials see the next fields
	owner    event.ConfigObjectKind
	id       string
	kind     event.SupplierOrBuyerCredentialKind
	client   string
	variable string
	address  schema.OutboundURL // see UnsetEnvironmentVariable
}

// MayHaveStoredValue reports whether the exchange can have the variable's value: the document in
// force (secretsInForce) took the same secret from the same variable or without a known variable.
// The exchange never had the value of another variable.
//
// For a variable in an address, outside its host, the result is always true, because the name of the
// sealed value contains the variable's name.
func (k *UnsetEnvironmentVariable) MayHaveStoredValue(secretsInForce map[SecretWithSourceVariable]bool) bool {
	if k.address != "" {
		return secretsInForce[SecretWithSourceVariable{secret: k.Secret, address: k.address}]
	}
	given := SecretWithSourceVariable{secret: k.Secret}
	if c := k.Credential; c != nil {
		given = SecretWithSourceVariable{owner: c.Owner, id: c.OwnerID, kind: c.Kind, client: c.ClientID}
	}
	named := given
	named.variable = k.Variable
	return secretsInForce[named] || secretsInForce[given] || IsAddressVariable(k.Secret)
}

// SecretNamesOfCommonAddressVariables returns the names of the sealed values of those variables that
// both documents have in the same address.
func SecretNamesOfCommonAddressVariables(a, b *schema.Document) map[string]bool {
	inB, both := FindSecretsAndVariables(b), make(map[string]bool)
	for of := range FindSecretsAndVariables(a) {
		if _, same := inB[of]; same && of.address != "" {
			both[of.secret] = true
		}
	}
	return both
}

// FindSecretsAndVariables returns the secrets of a document's suppliers and buyers, each with the
// variable that gave it, and the variables in their addresses. The value is true if the secret is
// set. Secrets of settings are not included.
func FindSecretsAndVariables(d *schema.Document) (isSetBySecret map[SecretWithSourceVariable]bool) {
	all := make(map[SecretWithSourceVariable]bool)
	add := func(of SecretWithSourceVariable, s schema.Secret) {
		of.variable = s.VariableName()
		all[of] = s.IsGivenOrDeclared()
	}
	clients := func(owner event.ConfigObjectKind, id string, list []schema.OAuthClient) {
		for i := range list {
			add(SecretWithSourceVariable{owner: owner, id: id, kind: event.CredentialOAuthClient, client: list[i].ClientID}, list[i].ClientSecret)
		}
	}
	addresses := func(prefix string, list ...schema.OutboundURL) {
		for _, a := range list {
			for _, name := range a.VariableNames() {
				all[SecretWithSourceVariable{secret: secretOwner{prefix: prefix}.storedSecretName(name), address: a}] = true
			}
		}
	}
	for i := range d.Suppliers {
		s := &d.Suppliers[i]
		add(SecretWithSourceVariable{owner: event.ObjectSupplier, id: s.ID, kind: event.CredentialAPIKey}, s.APIKey)
		clients(event.ObjectSupplier, s.ID, s.OAuthClients)
		for j := range s.BearerTokens {
			add(SecretWithSourceVariable{owner: event.ObjectSupplier, id: s.ID, kind: event.CredentialBearer}, s.BearerTokens[j].Token)
		}
		if s.Webhook != nil {
			add(SecretWithSourceVariable{secret: WebhookSecretName(s.ID)}, s.Webhook.Secret)
			addresses(supplierSecretPrefix(s.ID), s.Webhook.URL)
		}
	}
	for i := range d.Buyers {
		b := &d.Buyers[i]
		clients(event.ObjectBuyer, b.ID, b.OAuthClients)
		addresses(buyerSecretPrefix(b.ID), b.Endpoint, b.PingURL, b.PostURL, b.TestEndpoint, b.TestPingURL, b.TestPostURL)
		for j := range b.Secrets {
			add(SecretWithSourceVariable{secret: BuyerNamedSecretName(b.ID, b.Secrets[j].Name)}, b.Secrets[j].Value)
		}
		if a := b.Auth; a != nil {
			add(SecretWithSourceVariable{secret: buyerSecretPrefix(b.ID) + "/bearer"}, a.Bearer)
			add(SecretWithSourceVariable{secret: buyerSecretPrefix(b.ID) + "/api_key"}, a.APIKey)
			if a.OAuth != nil {
				addresses(buyerSecretPrefix(b.ID), a.OAuth.TokenURL)
				add(SecretWithSourceVariable{secret: buyerSecretPrefix(b.ID) + "/oauth"}, a.OAuth.ClientSecret)
			}
		}
	}
	return all
}

// recordIfUnset records the variable of the value at the path as unset, if it has no value in
// this process.
func (c *compiler) recordIfUnset(at syntax.KeyPath, variable UnsetEnvironmentVariable) {
	if found, exact := c.source.findNode(at); exact && found.Missing != "" {
		c.recordUnset(at, variable, found.Missing)
	}
}

// recordUnset adds the variable at the path to the document's unset variables, with the
// message to report if the exchange has no value either.
func (c *compiler) recordUnset(at syntax.KeyPath, variable UnsetEnvironmentVariable, message string) {
	found, _ := c.source.findNode(at)
	variable.Variable = syntax.SoleVariableName(found.Raw)
	variable.Problem = syntax.Problem{File: c.source.Path, Line: found.Line, Column: found.Column, Path: string(at), Message: message}
	c.out.Unset = append(c.out.Unset, variable)
}

// UnsetSettingVariablesError returns *syntax.Problems for all settings that use a variable without a value, or
// nil.
func (x *CompiledDocument) UnsetSettingVariablesError() error {
	var problems syntax.Problems
	for i := range x.Unset {
		if x.Unset[i].IsSetting() {
			problems = append(problems, x.Unset[i].Problem)
		}
	}
	return problems.Err()
}

// OutboundSecretNamesOf returns the names of the secrets with which the exchange authenticates or
// signs its requests to a supplier or buyer. Variables in addresses are not included.
func (x *CompiledDocument) OutboundSecretNamesOf(ref canonical.EntryRef) (names []string) {
	prefixes := map[canonical.Collection]string{canonical.Suppliers: supplierSecretPrefix(ref.ID), canonical.Buyers: buyerSecretPrefix(ref.ID)}
	prefix, hasSecrets := prefixes[ref.Kind]
	for secret, isSet := range FindSecretsAndVariables(x.Document) {
		if hasSecrets && isSet && strings.HasPrefix(secret.secret, prefix+"/") && !IsAddressVariable(secret.secret) {
			names = append(names, secret.secret)
		}
	}
	slices.Sort(names)
	return names
}
