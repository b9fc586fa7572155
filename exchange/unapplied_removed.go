package exchange

import (
	"pingpost/config/schema"
	"pingpost/engine/event"
)

// addStillValidRemovedValues adds lines for credentials that only the old document has but that are
// still valid. It also adds a line for each suppression list with entries that were read under another
// rule. A removed supplier or buyer has no valid credential.
func (u *ignoredValueFinder) addStillValidRemovedValues(oldDocument, newDocument *schema.Document) {
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
	u.addListsWithChangedRules(oldDocument, newDocument)
}

// addStillValidSupplierCredentials adds a line for the API key, one for the bearer tokens and one for
// each OAuth client if the new document lacks some of them and the supplier still has valid ones.
// oldSupplier and newSupplier are the supplier's entries in the old and the new document.
func (u *ignoredValueFinder) addStillValidSupplierCredentials(oldSupplier, newSupplier *schema.Supplier) {
	at, request := entryPath("suppliers", oldSupplier.ID), "DELETE /admin/v1/suppliers/"+oldSupplier.ID
	if oldSupplier.APIKey.IsSet() && !newSupplier.APIKey.IsSet() && u.hasLiveCredential(event.CredentialAPIKey, event.ObjectSupplier, oldSupplier.ID, "") {
		u.addIgnoredValue(at+".api_key", "it is not in this document, and its keys are still live", request+"/keys/HINT")
	}
	if len(oldSupplier.BearerTokens) > len(newSupplier.BearerTokens) && u.hasLiveCredential(event.CredentialBearer, event.ObjectSupplier, oldSupplier.ID, "") {
		u.addIgnoredValue(at+".bearer_tokens", "some are not in this document, and their tokens are still live", request+"/tokens/ID")
	}
	u.addStillValidOAuthClients(event.ObjectSupplier, "suppliers", oldSupplier.ID, oldSupplier.OAuthClients, newSupplier.OAuthClients)
}

// addStillValidOAuthClients adds a line for each OAuth client that is in oldClients but not in
// newClients, and whose secrets are still valid. kind, ownerListName and ownerID name the clients'
// owner.
func (u *ignoredValueFinder) addStillValidOAuthClients(kind event.ConfigObjectKind, ownerListName, ownerID string, oldClients, newClients []schema.OAuthClient) {
	still := make(map[string]bool, len(newClients))
	for i := range newClients {
		still[newClients[i].ClientID] = true
	}
	for i := range oldClients {
		client := oldClients[i].ClientID
		if !still[client] && u.hasLiveCredential(event.CredentialOAuthClient, kind, ownerID, client) {
			u.addIgnoredValue(entryPath(entryPath(ownerListName, ownerID)+".oauth_clients", client), "it is not in this document, and its secrets are still live",
				"DELETE /admin/v1/"+ownerListName+"/"+ownerID+"/clients/"+client)
		}
	}
}

// hasLiveCredential reports whether an owner still has a valid credential of this kind. For
// OAuth clients, clientID is the client's id; otherwise it is empty.
func (u *ignoredValueFinder) hasLiveCredential(kind event.CredentialKind, owner event.ConfigObjectKind, ownerID, clientID string) bool {
	s := u.exchange.state
	for _, c := range s.CredentialsOf(kind, owner, s.RefOf(owner, ownerID)) {
		if c.Client == clientID {
			return true
		}
	}
	return false
}

// addListsWithChangedRules adds a line for each suppression list that has stored entries and a changed
// field or hash. These entries match no lead until an operator uploads them again.
func (u *ignoredValueFinder) addListsWithChangedRules(oldDocument, newDocument *schema.Document) {
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
			u.addIgnoredValue(entryPath("suppression_lists", now.ID), "its entries were read as "+was.Field+", "+was.Hash+", and match no lead now", "PUT /admin/v1/suppression/"+now.ID)
		}
	}
}
