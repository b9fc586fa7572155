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

// DeclareIfMissing makes s declare the secret of the entry's earlier version (before) if s is
// missing.
func (s *Secret) DeclareIfMissing(before Secret) {
	if !s.IsSet() && before.IsSet() {
		s.set, s.variable = true, before.variable
	}
}

// DeclareOmittedSecrets declares the secrets of the supplier's earlier version (before) that this
// version omits, so that they stay in force.
func (s *Supplier) DeclareOmittedSecrets(before *Supplier) {
	s.APIKey.DeclareIfMissing(before.APIKey)
	declareOmittedClientSecrets(s.OAuthClients, before.OAuthClients)
	for i := range min(len(s.BearerTokens), len(before.BearerTokens)) {
		s.BearerTokens[i].Token.DeclareIfMissing(before.BearerTokens[i].Token)
	}
	if s.Webhook != nil && before.Webhook != nil {
		s.Webhook.Secret.DeclareIfMissing(before.Webhook.Secret)
	}
}

// DeclareOmittedSecrets declares the secrets of the buyer's earlier version (before) that this version
// omits, so that they stay in force.
func (b *Buyer) DeclareOmittedSecrets(before *Buyer) {
	declareOmittedClientSecrets(b.OAuthClients, before.OAuthClients)
	for i := range b.Secrets {
		if was := FindByID(before.Secrets, b.Secrets[i].Name, func(s *NamedSecret) string { return s.Name }); was != nil {
			b.Secrets[i].Value.DeclareIfMissing(was.Value)
		}
	}
	now, was := b.Auth, before.Auth
	switch {
	case now == nil || was == nil:
	case now.OAuth != nil && was.OAuth != nil:
		now.OAuth.ClientSecret.DeclareIfMissing(was.OAuth.ClientSecret)
	case now.OAuth == nil && !now.Bearer.IsSet() && !now.APIKey.IsSet():
		now.Bearer.DeclareIfMissing(was.Bearer)
		now.APIKey.DeclareIfMissing(was.APIKey)
		now.fillDefaults()
	}
}

func declareOmittedClientSecrets(now, before []OAuthClient) {
	for i := range now {
		if was := FindByID(before, now[i].ClientID, func(c *OAuthClient) string { return c.ClientID }); was != nil {
			now[i].ClientSecret.DeclareIfMissing(was.ClientSecret)
		}
	}
}
