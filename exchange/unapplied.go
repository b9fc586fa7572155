package exchange

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"pingpost/config"
	"pingpost/config/schema"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// listIgnoredInitialValues lists values in a document that have no effect, because they only set a first
// value and the current value differs. Examples are balances, secrets and pauses. Each line
// names the place and the request that changes the value, and repeats no secret.
//
// Callers' secrets are compared by their hashes, and the exchange's own secrets by decrypting
// the stored value. A balance changes with every lead, so the initial balance is compared with
// the one in the active document. The same comparison finds values that the new document no
// longer has.
func (x *Exchange) listIgnoredInitialValues(built *config.CompiledDocument) []string {
	u := ignoredInitialValueFinder{exchange: x, tokens: make(map[string]int)}
	for i := range built.Initial.Credentials {
		u.addLineForDifferentCredential(&built.Initial.Credentials[i])
	}
	for i := range built.Initial.Secrets {
		u.addLineForDifferentSecret(&built.Initial.Secrets[i])
	}
	u.addLinesForDifferentPauses(built.Document)
	for _, list := range built.Initial.Lists {
		u.addLineForChangedListFile(list)
	}
	if before := x.activeOrLastActiveConfigJSON(); before != nil && !bytes.Equal(before, built.Canonical) {
		if old, err := config.ParseStoredDocument(before); err == nil {
			u.addChangedOpeningBalances(old.Document, built.Document)
			u.addLinesForRemovedCredentialsAndChangedLists(old.Document, built.Document)
		}
	}
	return u.lines
}

// activeOrLastActiveConfigJSON returns the active configuration as canonical JSON, or nil. At a start no
// configuration is active yet; it then reads the document that was active last from its file.
func (x *Exchange) activeOrLastActiveConfigJSON() (jsonOrNil []byte) {
	if canonical := x.ActiveConfigurationJSON(); canonical != nil {
		return canonical
	}
	hash := x.state.CurrentConfigVersion().Document
	if hash == "" {
		return nil
	}
	text, err := x.readStoredConfigDocument(hash)
	if err != nil {
		return nil
	}
	return text
}

// warnOfIgnoredInitialValues warns operators of configuration values that have no effect: the lines of
// listIgnoredInitialValues.
func (x *Exchange) warnOfIgnoredInitialValues(lines []string) {
	for _, line := range lines {
		x.logger.Warn("an initial value of the configuration differs from the current value and is not applied", "value", line)
	}
}

type ignoredInitialValueFinder struct {
	exchange *Exchange
	tokens   map[string]int // static tokens of each supplier so far
	lines    []string
}

// addIgnoredValueLine adds the line for a configuration value that has no effect. path is its place,
// currentState describes the value in force, and changeRequest is the API call that changes it.
func (u *ignoredInitialValueFinder) addIgnoredValueLine(path, currentState, changeRequest string) {
	u.lines = append(u.lines, path+": first value only; not applied: "+currentState+"; use "+changeRequest)
}

// entryPath returns the path of an entry in the configuration, such as buyers[acme]. It quotes
// an id that contains brackets or quotes.
func entryPath(listName, id string) string {
	if strings.ContainsFunc(id, func(r rune) bool { return r == '[' || r == ']' || r == '"' }) {
		id = strconv.Quote(id)
	}
	return listName + "[" + id + "]"
}

// addLineForDifferentCredential adds a line if an API key, token or OAuth client of the document is no
// longer valid although it once was. It also adds one if the credential has other scopes now.
func (u *ignoredInitialValueFinder) addLineForDifferentCredential(initial *config.InitialCredential) {
	s := u.exchange.state
	c := u.exchange.hashInitialCredential(initial)
	owners := "suppliers"
	if initial.Owner == event.ObjectBuyer {
		owners = "buyers"
	}
	at, request := entryPath(owners, initial.OwnerID), "POST /admin/v1/"+owners+"/"+initial.OwnerID
	stands := ""
	switch initial.Kind {
	case event.CredentialAPIKey:
		at, stands, request = at+".api_key", "this key is not one of the live keys", request+"/keys"
	case event.CredentialOAuthClient:
		at, request = entryPath(at+".oauth_clients", initial.ClientID), request+"/clients/"+initial.ClientID+"/secrets"
		stands = "this secret is not one of the live secrets"
	case event.CredentialBearer:
		n := u.tokens[initial.OwnerID]
		u.tokens[initial.OwnerID]++
		at, stands, request = at+".bearer_tokens["+strconv.Itoa(n)+"]", "this token was revoked", request+"/tokens"
	}
	ref := s.RefOf(c.Owner, c.ID)
	live, ok := s.CredentialByHash(c.Hash)
	switch {
	case ok && live.Owner == c.Owner && live.Ref == ref:
		if live.Scopes != c.Scopes {
			u.addIgnoredValueLine(at+".scopes", "they are "+string(live.Scopes.AppendSpaceSeparatedNames(nil)), request+" for a new one with others")
		}
	case s.HasCredentialEverExisted(&event.CredentialAddedOrRevoked{Credential: c.Kind, Owner: c.Owner, OwnerRef: ref, Client: c.Client, Hash: c.Hash}):
		if initial.Kind == event.CredentialOAuthClient {
			at += ".client_secret"
		}
		u.addIgnoredValueLine(at, stands, request)
	}
}

// secretPlaces maps each kind of secret that the exchange sends to others to its path within a
// buyer's or supplier's configuration entry.
var secretPlaces = map[string]string{
	"bearer": ".auth.bearer", "api_key": ".auth.api_key", "oauth": ".auth.oauth.client_secret", "webhook": ".webhook.secret",
}

// splitSecretName splits a stored secret's name, such as buyer/acme/bearer, into its parts. It
// returns the owner's kind and id, and the secret's path within the owner's configuration
// entry.
func splitSecretName(name string) (ownerKind, ownerID, pathInEntry string) {
	parts := strings.Split(name, "/")
	switch {
	case len(parts) == 3:
		return parts[0], parts[1], secretPlaces[parts[2]]
	case len(parts) == 4 && parts[2] == "secret":
		return parts[0], parts[1], entryPath(".secrets", parts[3]) + ".value"
	}
	panic("BUG: a secret by the name of " + name)
}

// addLineForDifferentSecret adds a line if a secret of the document differs from the stored one. It
// also adds one if the stored secret cannot be decrypted for the comparison.
func (u *ignoredInitialValueFinder) addLineForDifferentSecret(initial *config.InitialOutboundSecret) {
	if initial.Follows {
		return
	}
	sealed, ok := u.exchange.state.SealedSecret(initial.Name)
	if !ok {
		return
	}
	stands := "the current secret is another one"
	value, err := u.exchange.vault.OpenSecret(initial.Name, sealed)
	switch {
	case err != nil:
		stands = "the current secret cannot be decrypted"
	case value == initial.Value.Reveal():
		return
	}
	owner, id, at := splitSecretName(initial.Name)
	u.addIgnoredValueLine(entryPath(owner+"s", id)+at, stands, "PUT /admin/v1/secrets/"+initial.Name)
}

// addLinesForDifferentPauses adds a line for each buyer or campaign that the document pauses but
// that is not paused, and the reverse.
func (u *ignoredInitialValueFinder) addLinesForDifferentPauses(document *schema.Document) {
	for i := range document.Buyers {
		u.addLineForDifferentPause(event.ObjectBuyer, "buyers", document.Buyers[i].ID, document.Buyers[i].Paused)
	}
	for i := range document.Campaigns {
		u.addLineForDifferentPause(event.ObjectCampaign, "campaigns", document.Campaigns[i].ID, document.Campaigns[i].Paused)
	}
}

// addLineForDifferentPause adds a line if a buyer or campaign is not paused as the document wants.
// wantsPaused is the document's value.
func (u *ignoredInitialValueFinder) addLineForDifferentPause(kind event.ConfigObjectKind, listName, id string, wantsPaused bool) {
	s := u.exchange.state
	paused, seen := s.PauseStatus(kind, s.RefOf(kind, id))
	if !seen || paused == wantsPaused {
		return
	}
	stands, verb := "it is not paused", "pause"
	if paused {
		stands, verb = "it is paused", "resume"
	}
	u.addIgnoredValueLine(entryPath(listName, id)+".paused", stands, "POST /admin/v1/"+listName+"/"+id+"/"+verb)
}

// addLineForChangedListFile adds a line if the initial file of a suppression list changed since the
// exchange imported it. It ignores a file that it cannot open, but adds a line if it cannot read the
// file to its end.
func (u *ignoredInitialValueFinder) addLineForChangedListFile(initial config.InitialSuppressionFile) {
	s := u.exchange.state
	known, ok := s.SuppressionListFile(s.RefOf(event.ObjectList, string(initial.ID)))
	if !ok {
		return
	}
	source, err := openRegularFile(initial.Path)
	if err != nil {
		return
	}
	defer source.Close()
	var skipped uint64
	sum, err := forEachSuppressionEntryLine(source, func(int, []byte) error { return nil }, &skipped)
	if err == nil && sum == known.Source {
		return
	}
	u.addIgnoredValueLine(entryPath("suppression_lists", string(initial.ID))+".file",
		fmt.Sprintf("the list keeps the %d entries that it has", known.Entries), "PUT /admin/v1/suppression/"+string(initial.ID))
}

// addChangedOpeningBalances adds a line for each buyer with an initial balance that is new or changed
// in the new document, if the buyer's account is already open.
func (u *ignoredInitialValueFinder) addChangedOpeningBalances(oldDocument, newDocument *schema.Document) {
	before := make(map[string]market.Money, len(oldDocument.Buyers))
	for i := range oldDocument.Buyers {
		if funds := oldDocument.Buyers[i].Funds; funds != nil {
			before[oldDocument.Buyers[i].ID] = *funds.Balance
		}
	}
	s := u.exchange.state
	for i := range newDocument.Buyers {
		buyer := &newDocument.Buyers[i]
		if buyer.Funds == nil || !s.AppliedBuyerFunds(s.RefOf(event.ObjectBuyer, buyer.ID)).Opened {
			continue
		}
		if was, known := before[buyer.ID]; !known || was != *buyer.Funds.Balance {
			u.addIgnoredValueLine(entryPath("buyers", buyer.ID)+".funds.balance", "the account is open already", "POST /admin/v1/buyers/"+buyer.ID+"/funds")
		}
	}
}

// addLinesForRemovedCredentialsAndChangedLists adds lines for credentials that only the old document
// has but that are still valid. It also adds a line for each suppression list with entries that were
// read under another rule. A removed supplier or buyer has no valid credential.
func (u *ignoredInitialValueFinder) addLinesForRemovedCredentialsAndChangedLists(oldDocument, newDocument *schema.Document) {
	suppliers := make(map[string]*schema.Supplier, len(newDocument.Suppliers))
	for i := range newDocument.Suppliers {
		suppliers[newDocument.Suppliers[i].ID] = &newDocument.Suppliers[i]
	}
	for i := range oldDocument.Suppliers {
		before := &oldDocument.Suppliers[i]
		if now := suppliers[before.ID]; now != nil {
			u.addStillValidSupplierCredentials(before, now)
		}
	}
	buyers := make(map[string]*schema.Buyer, len(newDocument.Buyers))
	for i := range newDocument.Buyers {
		buyers[newDocument.Buyers[i].ID] = &newDocument.Buyers[i]
	}
	for i := range oldDocument.Buyers {
		before := &oldDocument.Buyers[i]
		if now := buyers[before.ID]; now != nil {
			u.addStillValidOAuthClients(event.ObjectBuyer, "buyers", before.ID, before.OAuthClients, now.OAuthClients)
		}
	}
	u.addSuppressionListsWithChangedFieldOrHash(oldDocument, newDocument)
}

// addStillValidSupplierCredentials adds a line for the API key, one for the bearer tokens and one for
// each OAuth client if the new document lacks some of them and the supplier still has valid ones.
// oldSupplier and newSupplier are the supplier's entries in the old and the new document.
func (u *ignoredInitialValueFinder) addStillValidSupplierCredentials(oldSupplier, newSupplier *schema.Supplier) {
	at, request := entryPath("suppliers", oldSupplier.ID), "DELETE /admin/v1/suppliers/"+oldSupplier.ID
	if oldSupplier.APIKey.IsGivenOrDeclared() && !newSupplier.APIKey.IsGivenOrDeclared() && u.hasLiveCredential(event.CredentialAPIKey, event.ObjectSupplier, oldSupplier.ID, "") {
		u.addIgnoredValueLine(at+".api_key", "it is not in this document, and its keys are still live", request+"/keys/HINT")
	}
	if len(oldSupplier.BearerTokens) > len(newSupplier.BearerTokens) && u.hasLiveCredential(event.CredentialBearer, event.ObjectSupplier, oldSupplier.ID, "") {
		u.addIgnoredValueLine(at+".bearer_tokens", "some are not in this document, and their tokens are still live", request+"/tokens/ID")
	}
	u.addStillValidOAuthClients(event.ObjectSupplier, "suppliers", oldSupplier.ID, oldSupplier.OAuthClients, newSupplier.OAuthClients)
}

// addStillValidOAuthClients adds a line for each OAuth client that is in oldClients but not in
// newClients, and whose secrets are still valid. kind, ownerListName and ownerID name the clients'
// owner.
func (u *ignoredInitialValueFinder) addStillValidOAuthClients(kind event.ConfigObjectKind, ownerListName, ownerID string, oldClients, newClients []schema.OAuthClient) {
	still := make(map[string]bool, len(newClients))
	for i := range newClients {
		still[newClients[i].ClientID] = true
	}
	for i := range oldClients {
		client := oldClients[i].ClientID
		if !still[client] && u.hasLiveCredential(event.CredentialOAuthClient, kind, ownerID, client) {
			u.addIgnoredValueLine(entryPath(entryPath(ownerListName, ownerID)+".oauth_clients", client), "it is not in this document, and its secrets are still live",
				"DELETE /admin/v1/"+ownerListName+"/"+ownerID+"/clients/"+client)
		}
	}
}

// hasLiveCredential reports whether an owner still has a valid credential of this kind. For
// OAuth clients, clientID is the client's id; otherwise it is empty.
func (u *ignoredInitialValueFinder) hasLiveCredential(kind event.SupplierOrBuyerCredentialKind, owner event.ConfigObjectKind, ownerID, clientID string) bool {
	s := u.exchange.state
	for _, c := range s.CredentialsOf(kind, owner, s.RefOf(owner, ownerID)) {
		if c.Client == clientID {
			return true
		}
	}
	return false
}

// addSuppressionListsWithChangedFieldOrHash adds a line for each suppression list that has stored entries and a changed
// field or hash. These entries match no lead until an operator uploads them again.
func (u *ignoredInitialValueFinder) addSuppressionListsWithChangedFieldOrHash(oldDocument, newDocument *schema.Document) {
	before := make(map[string]*schema.SuppressionList, len(oldDocument.Lists))
	for i := range oldDocument.Lists {
		before[oldDocument.Lists[i].ID] = &oldDocument.Lists[i]
	}
	s := u.exchange.state
	for i := range newDocument.Lists {
		now := &newDocument.Lists[i]
		was := before[now.ID]
		if _, loaded := s.SuppressionListFile(s.RefOf(event.ObjectList, now.ID)); was == nil || !loaded {
			continue
		}
		if was.Hash != now.Hash || was.Field != now.Field {
			u.addIgnoredValueLine(entryPath("suppression_lists", now.ID), "its entries were read as "+was.Field+", "+was.Hash+", and match no lead now", "PUT /admin/v1/suppression/"+now.ID)
		}
	}
}
