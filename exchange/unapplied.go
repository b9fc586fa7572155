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

// ignoredInitialValues lists values in a document that have no effect, because they only set a first
// value and the current value differs. Examples are balances, secrets and pauses. Each line
// names the place and the request that changes the value, and repeats no secret.
//
// Callers' secrets are compared by their hashes, and the exchange's own secrets by decrypting
// the stored value. A balance changes with every lead, so the initial balance is compared with
// the one in the active document. The same comparison finds values that the new document no
// longer has.
func (x *Exchange) ignoredInitialValues(built *config.Compiled) []string {
	u := ignoredValueFinder{exchange: x, tokens: make(map[string]int)}
	for i := range built.Initial.Credentials {
		u.addIfCredentialDiffers(&built.Initial.Credentials[i])
	}
	for i := range built.Initial.Secrets {
		u.addIfSecretDiffers(&built.Initial.Secrets[i])
	}
	u.addDifferingPauses(built.Document)
	for _, list := range built.Initial.Lists {
		u.addIfListFileDiffers(list)
	}
	if before := x.activeDocument(); before != nil && !bytes.Equal(before, built.Canonical) {
		if old, err := config.ParseCanonical(before); err == nil {
			u.addChangedBalances(old.Document, built.Document)
			u.addRemovedValues(old.Document, built.Document)
		}
	}
	return u.lines
}

// activeDocument returns the active configuration as canonical JSON, or nil. At a start no
// configuration is active yet; it then reads the document that was active last from its file.
func (x *Exchange) activeDocument() []byte {
	if canonical := x.Configuration(); canonical != nil {
		return canonical
	}
	hash := x.state.CurrentConfigVersion().Document
	if hash == "" {
		return nil
	}
	text, err := x.readDocument(hash)
	if err != nil {
		return nil
	}
	return text
}

// logUnapplied warns operators of configuration values that have no effect: the lines of
// ignoredInitialValues.
func (x *Exchange) logUnapplied(lines []string) {
	for _, line := range lines {
		x.logger.Warn("an initial value of the configuration differs from the current value and is not applied", "value", line)
	}
}

type ignoredValueFinder struct {
	exchange *Exchange
	tokens   map[string]int // static tokens of each supplier so far
	lines    []string
}

// addUnapplied adds the line for a configuration value that has no effect. at is its place,
// current describes the value in force, and request is the API call that changes it.
func (u *ignoredValueFinder) addUnapplied(at, current, request string) {
	u.lines = append(u.lines, at+": first value only; not applied: "+current+"; use "+request)
}

// entryPath returns the path of an entry in the configuration, such as buyers[acme]. It quotes
// an id that contains brackets or quotes.
func entryPath(list, id string) string {
	if strings.ContainsFunc(id, func(r rune) bool { return r == '[' || r == ']' || r == '"' }) {
		id = strconv.Quote(id)
	}
	return list + "[" + id + "]"
}

// addIfCredentialDiffers adds a line if an API key, token or OAuth client of the document is no
// longer valid although it once was. It also adds one if the credential has other scopes now.
func (u *ignoredValueFinder) addIfCredentialDiffers(first *config.InitialCredential) {
	s := u.exchange.state
	c := u.exchange.hashInitialCredential(first)
	owners := "suppliers"
	if first.Owner == event.ObjectBuyer {
		owners = "buyers"
	}
	at, request := entryPath(owners, first.OwnerID), "POST /admin/v1/"+owners+"/"+first.OwnerID
	stands := ""
	switch first.Kind {
	case event.CredentialAPIKey:
		at, stands, request = at+".api_key", "this key is not one of the live keys", request+"/keys"
	case event.CredentialOAuthClient:
		at, request = entryPath(at+".oauth_clients", first.ClientID), request+"/clients/"+first.ClientID+"/secrets"
		stands = "this secret is not one of the live secrets"
	case event.CredentialBearer:
		n := u.tokens[first.OwnerID]
		u.tokens[first.OwnerID]++
		at, stands, request = at+".bearer_tokens["+strconv.Itoa(n)+"]", "this token was revoked", request+"/tokens"
	}
	ref := s.RefOf(c.Owner, c.ID)
	live, ok := s.CredentialByHash(c.Hash)
	switch {
	case ok && live.Owner == c.Owner && live.Ref == ref:
		if live.Scopes != c.Scopes {
			u.addUnapplied(at+".scopes", "they are "+string(live.Scopes.AppendTo(nil)), request+" for a new one with others")
		}
	case s.HasCredentialEverExisted(&event.CredentialSet{Credential: c.Kind, Owner: c.Owner, OwnerRef: ref, Client: c.Client, Hash: c.Hash}):
		if first.Kind == event.CredentialOAuthClient {
			at += ".client_secret"
		}
		u.addUnapplied(at, stands, request)
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
func splitSecretName(name string) (owner, id, at string) {
	parts := strings.Split(name, "/")
	switch {
	case len(parts) == 3:
		return parts[0], parts[1], secretPlaces[parts[2]]
	case len(parts) == 4 && parts[2] == "secret":
		return parts[0], parts[1], entryPath(".secrets", parts[3]) + ".value"
	}
	panic("BUG: a secret by the name of " + name)
}

// addIfSecretDiffers adds a line if a secret of the document differs from the stored one. It
// also adds one if the stored secret cannot be decrypted for the comparison.
func (u *ignoredValueFinder) addIfSecretDiffers(first *config.InitialSecret) {
	if first.Follows {
		return
	}
	sealed, ok := u.exchange.state.SealedSecret(first.Name)
	if !ok {
		return
	}
	stands := "the current secret is another one"
	value, err := u.exchange.vault.OpenSecret(first.Name, sealed)
	switch {
	case err != nil:
		stands = "the current secret cannot be decrypted"
	case value == first.Value.Reveal():
		return
	}
	owner, id, at := splitSecretName(first.Name)
	u.addUnapplied(entryPath(owner+"s", id)+at, stands, "PUT /admin/v1/secrets/"+first.Name)
}

// addDifferingPauses adds a line for each buyer or campaign that the document pauses but that
// is not paused, and the reverse.
func (u *ignoredValueFinder) addDifferingPauses(document *schema.Document) {
	for i := range document.Buyers {
		u.addIfPauseDiffers(event.ObjectBuyer, "buyers", document.Buyers[i].ID, document.Buyers[i].Paused)
	}
	for i := range document.Campaigns {
		u.addIfPauseDiffers(event.ObjectCampaign, "campaigns", document.Campaigns[i].ID, document.Campaigns[i].Paused)
	}
}

// addIfPauseDiffers adds a line if a buyer or campaign is not paused as the document wants.
// wanted is the document's value.
func (u *ignoredValueFinder) addIfPauseDiffers(kind event.ObjectKind, list, id string, wanted bool) {
	s := u.exchange.state
	paused, seen := s.PauseStatus(kind, s.RefOf(kind, id))
	if !seen || paused == wanted {
		return
	}
	stands, verb := "it is not paused", "pause"
	if paused {
		stands, verb = "it is paused", "resume"
	}
	u.addUnapplied(entryPath(list, id)+".paused", stands, "POST /admin/v1/"+list+"/"+id+"/"+verb)
}

// addIfListFileDiffers adds a line if the initial file of a suppression list changed since the
// exchange imported it. It ignores a file that it cannot open.
func (u *ignoredValueFinder) addIfListFileDiffers(first config.InitialSuppressionFile) {
	s := u.exchange.state
	known, ok := s.SuppressionFile(s.RefOf(event.ObjectList, string(first.ID)))
	if !ok {
		return
	}
	source, err := openRegularFile(first.Path)
	if err != nil {
		return
	}
	defer source.Close()
	var skipped uint64
	sum, err := forEachEntryLine(source, func(int, []byte) error { return nil }, &skipped)
	if err == nil && sum == known.Source {
		return
	}
	u.addUnapplied(entryPath("suppression_lists", string(first.ID))+".file",
		fmt.Sprintf("the list keeps the %d entries that it has", known.Entries), "PUT /admin/v1/suppression/"+string(first.ID))
}

// addChangedBalances adds a line for each buyer whose initial balance changed between the two
// documents, if the buyer's account is already open.
func (u *ignoredValueFinder) addChangedBalances(old, document *schema.Document) {
	before := make(map[string]market.Money, len(old.Buyers))
	for i := range old.Buyers {
		if funds := old.Buyers[i].Funds; funds != nil {
			before[old.Buyers[i].ID] = *funds.Balance
		}
	}
	s := u.exchange.state
	for i := range document.Buyers {
		buyer := &document.Buyers[i]
		if buyer.Funds == nil || !s.HasOpeningBalance(s.RefOf(event.ObjectBuyer, buyer.ID)) {
			continue
		}
		if was, known := before[buyer.ID]; !known || was != *buyer.Funds.Balance {
			u.addUnapplied(entryPath("buyers", buyer.ID)+".funds.balance", "the account is open already", "POST /admin/v1/buyers/"+buyer.ID+"/funds")
		}
	}
}
