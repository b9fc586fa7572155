package exchange

import (
	"pingpost/config/schema"
	"pingpost/engine/event"
)

// addRemovedValues adds a line for each credential that only the old document has but that is
// still valid. It also adds suppression lists whose entries were read under another rule. A
// removed supplier or buyer has no valid credential.
func (u *ignoredValueFinder) addRemovedValues(old, document *schema.Document) {
	suppliers := make(map[string]*schema.Supplier, len(document.Suppliers))
	for i := range document.Suppliers {
		suppliers[document.Suppliers[i].ID] = &document.Suppliers[i]
	}
	for i := range old.Suppliers {
		before := &old.Suppliers[i]
		if now := suppliers[before.ID]; now != nil {
			u.addRemovedSupplierCredentials(before, now)
		}
	}
	buyers := make(map[string]*schema.Buyer, len(document.Buyers))
	for i := range document.Buyers {
		buyers[document.Buyers[i].ID] = &document.Buyers[i]
	}
	for i := range old.Buyers {
		before := &old.Buyers[i]
		if now := buyers[before.ID]; now != nil {
			u.addRemovedClients(event.ObjectBuyer, "buyers", before.ID, before.OAuthClients, now.OAuthClients)
		}
	}
	u.addChangedListRules(old, document)
}

// addRemovedSupplierCredentials adds a line for each credential that a supplier has in the old
// document only, but that is still valid. before and now are the supplier's entries in the old
// and the new document.
func (u *ignoredValueFinder) addRemovedSupplierCredentials(before, now *schema.Supplier) {
	at, request := entryPath("suppliers", before.ID), "DELETE /admin/v1/suppliers/"+before.ID
	if before.APIKey.IsSet() && !now.APIKey.IsSet() && u.hasLiveCredential(event.CredentialAPIKey, event.ObjectSupplier, before.ID, "") {
		u.addUnapplied(at+".api_key", "it is not in this document, and its keys are still live", request+"/keys/HINT")
	}
	if len(before.BearerTokens) > len(now.BearerTokens) && u.hasLiveCredential(event.CredentialBearer, event.ObjectSupplier, before.ID, "") {
		u.addUnapplied(at+".bearer_tokens", "some are not in this document, and their tokens are still live", request+"/tokens/ID")
	}
	u.addRemovedClients(event.ObjectSupplier, "suppliers", before.ID, before.OAuthClients, now.OAuthClients)
}

// addRemovedClients adds a line for each OAuth client that is in the list before but not in
// now, and whose secrets are still valid. kind, list and id name the clients' owner.
func (u *ignoredValueFinder) addRemovedClients(kind event.ObjectKind, list, id string, before, now []schema.OAuthClient) {
	still := make(map[string]bool, len(now))
	for i := range now {
		still[now[i].ClientID] = true
	}
	for i := range before {
		client := before[i].ClientID
		if !still[client] && u.hasLiveCredential(event.CredentialOAuthClient, kind, id, client) {
			u.addUnapplied(entryPath(entryPath(list, id)+".oauth_clients", client), "it is not in this document, and its secrets are still live",
				"DELETE /admin/v1/"+list+"/"+id+"/clients/"+client)
		}
	}
}

// hasLiveCredential reports whether an owner still has a valid credential of this kind. For
// OAuth clients, client is the client's id; otherwise it is empty.
func (u *ignoredValueFinder) hasLiveCredential(kind event.CredentialKind, owner event.ObjectKind, id, client string) bool {
	s := u.exchange.state
	for _, c := range s.CredentialsOf(kind, owner, s.RefOf(owner, id)) {
		if c.Client == client {
			return true
		}
	}
	return false
}

// addChangedListRules adds a line for each suppression list whose field or hash changed. Its
// stored entries then match no lead until they are uploaded again.
func (u *ignoredValueFinder) addChangedListRules(old, document *schema.Document) {
	before := make(map[string]*schema.List, len(old.Lists))
	for i := range old.Lists {
		before[old.Lists[i].ID] = &old.Lists[i]
	}
	s := u.exchange.state
	for i := range document.Lists {
		now := &document.Lists[i]
		was := before[now.ID]
		if _, loaded := s.SuppressionFile(s.RefOf(event.ObjectList, now.ID)); was == nil || !loaded {
			continue
		}
		if was.Hash != now.Hash || was.Field != now.Field {
			u.addUnapplied(entryPath("suppression_lists", now.ID), "its entries were read as "+was.Field+", "+was.Hash+", and match no lead now", "PUT /admin/v1/suppression/"+now.ID)
		}
	}
}
