package config

import "encoding/json"

// carry gives an entry that was sent the secrets that it leaves out and has already:
// who edits it has never seen them. Left out is not taken away: another form of auth,
// or none, is.
func (d *Document) carry(ref Ref, before json.RawMessage) {
	if before == nil {
		return
	}
	old, err := ParseCanonical(append(append([]byte(`{"`+string(ref.Kind)+`":[`), before...), "]}"...))
	if err != nil {
		panic("BUG: an entry in force is none: " + err.Error())
	}
	switch ref.Kind {
	case Suppliers:
		if now := entry(d.Suppliers, ref.ID, func(s *Supplier) string { return s.ID }); now != nil {
			now.carry(&old.Document.Suppliers[0])
		}
	case Buyers:
		if now := entry(d.Buyers, ref.ID, func(b *Buyer) string { return b.ID }); now != nil {
			now.carry(&old.Document.Buyers[0])
		}
	}
}

func entry[T any](list []T, id string, idOf func(*T) string) *T {
	for i := range list {
		if idOf(&list[i]) == id {
			return &list[i]
		}
	}
	return nil
}

func (s *Secret) carry(before Secret) {
	if !s.IsSet() && before.IsSet() {
		s.set, s.variable = true, before.variable
	}
}

func (s *Supplier) carry(before *Supplier) {
	s.APIKey.carry(before.APIKey)
	carryClients(s.OAuthClients, before.OAuthClients)
	for i := range min(len(s.BearerTokens), len(before.BearerTokens)) {
		s.BearerTokens[i].Token.carry(before.BearerTokens[i].Token)
	}
	if s.Webhook != nil && before.Webhook != nil {
		s.Webhook.Secret.carry(before.Webhook.Secret)
	}
}

func (b *Buyer) carry(before *Buyer) {
	carryClients(b.OAuthClients, before.OAuthClients)
	for i := range b.Secrets {
		if was := entry(before.Secrets, b.Secrets[i].Name, func(s *NamedSecret) string { return s.Name }); was != nil {
			b.Secrets[i].Value.carry(was.Value)
		}
	}
	now, was := b.Auth, before.Auth
	switch {
	case now == nil || was == nil:
	case now.OAuth != nil && was.OAuth != nil:
		now.OAuth.ClientSecret.carry(was.OAuth.ClientSecret)
	case now.OAuth == nil && !now.Bearer.IsSet() && !now.APIKey.IsSet():
		now.Bearer.carry(was.Bearer)
		now.APIKey.carry(was.APIKey)
		now.fill()
	}
}

func carryClients(now, before []OAuthClient) {
	for i := range now {
		if was := entry(before, now[i].ClientID, func(c *OAuthClient) string { return c.ClientID }); was != nil {
			now[i].ClientSecret.carry(was.ClientSecret)
		}
	}
}
