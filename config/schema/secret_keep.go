package schema

// FindByID returns a pointer to the list's entry with the id, or nil.
func FindByID[T any](list []T, id string, idOf func(*T) string) *T {
	for i := range list {
		if idOf(&list[i]) == id {
			return &list[i]
		}
	}
	return nil
}

// DeclareEarlierIfUnset makes s declare the secret of the entry's earlier version (before) if s is
// missing.
func (s *Secret) DeclareEarlierIfUnset(before Secret) {
	if !s.IsGivenOrDeclared() && before.IsGivenOrDeclared() {
		s.set, s.variable = true, before.variable
	}
}

// KeepOmittedSecrets declares the secrets of the supplier's earlier version (before) that this
// version omits, so that they stay in force.
func (s *Supplier) KeepOmittedSecrets(before *Supplier) {
	s.APIKey.DeclareEarlierIfUnset(before.APIKey)
	keepOmittedClientSecrets(s.OAuthClients, before.OAuthClients)
	for i := range min(len(s.BearerTokens), len(before.BearerTokens)) {
		s.BearerTokens[i].Token.DeclareEarlierIfUnset(before.BearerTokens[i].Token)
	}
	if s.Webhook != nil && before.Webhook != nil {
		s.Webhook.Secret.DeclareEarlierIfUnset(before.Webhook.Secret)
	}
}

// KeepOmittedSecrets declares the secrets of the buyer's earlier version (before) that this version
// omits, so that they stay in force.
func (b *Buyer) KeepOmittedSecrets(before *Buyer) {
	keepOmittedClientSecrets(b.OAuthClients, before.OAuthClients)
	for i := range b.Secrets {
		if was := FindByID(before.Secrets, b.Secrets[i].Name, func(s *NamedSecret) string { return s.Name }); was != nil {
			b.Secrets[i].Value.DeclareEarlierIfUnset(was.Value)
		}
	}
	now, was := b.Auth, before.Auth
	switch {
	case now == nil || was == nil:
	case now.OAuth != nil && was.OAuth != nil:
		now.OAuth.ClientSecret.DeclareEarlierIfUnset(was.OAuth.ClientSecret)
	case now.OAuth == nil && !now.Bearer.IsGivenOrDeclared() && !now.APIKey.IsGivenOrDeclared():
		now.Bearer.DeclareEarlierIfUnset(was.Bearer)
		now.APIKey.DeclareEarlierIfUnset(was.APIKey)
		now.fillDefaults()
	}
}

func keepOmittedClientSecrets(now, before []OAuthClient) {
	for i := range now {
		if was := FindByID(before, now[i].ClientID, func(c *OAuthClient) string { return c.ClientID }); was != nil {
			now[i].ClientSecret.DeclareEarlierIfUnset(was.ClientSecret)
		}
	}
}

// FindBuyersWithRemovedAuth returns the ids of the buyers of d that have an address and no auth, and that
// had auth in the earlier document.
func (d *Document) FindBuyersWithRemovedAuth(earlier *Document) (ids []string) {
	hadAuth := make(map[string]bool, len(earlier.Buyers))
	for i := range earlier.Buyers {
		hadAuth[earlier.Buyers[i].ID] = earlier.Buyers[i].Auth != nil
	}
	for i := range d.Buyers {
		buyer := &d.Buyers[i]
		if hadAuth[buyer.ID] && buyer.Auth == nil && (buyer.ProductionURLs().PostURL() != "" || buyer.TestURLs().PostURL() != "") {
			ids = append(ids, buyer.ID)
		}
	}
	return ids
}
