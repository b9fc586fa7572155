package canonical

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"pingpost/config/schema"
	"pingpost/config/syntax"
)

// Encode writes a document as JSON in canonical order: entries by id, filter sets by
// priority, and lists that are sets by name. It keeps the order of fields, filters and caps,
// because people read them in that order and the engine checks them in that order.
//
// Encode writes a ${ that is not a variable as $${. Reading the bytes back therefore expands
// only the variables of addresses, which keep their written form.
func Encode(d *schema.Document) []byte {
	sorted := *d
	sorted.TrustedProxies = sortedCopy(d.TrustedProxies)
	sorted.TrustedNetworks = sortedCopy(d.TrustedNetworks)
	sorted.Suppliers = sortedBy(d.Suppliers, func(s *schema.Supplier) string { return s.ID })
	sorted.Buyers = sortedBy(d.Buyers, func(b *schema.Buyer) string { return b.ID })
	sorted.Lists = sortedBy(d.Lists, func(l *schema.SuppressionList) string { return l.ID })
	sorted.Campaigns = sortedBy(d.Campaigns, func(c *schema.Campaign) string { return c.ID })
	for i := range sorted.Suppliers {
		s := &sorted.Suppliers[i]
		s.OAuthClients = sortedClients(s.OAuthClients)
		s.BearerTokens = slices.Clone(s.BearerTokens)
		for j := range s.BearerTokens {
			s.BearerTokens[j].Scopes = sortedCopy(s.BearerTokens[j].Scopes)
		}
	}
	for i := range sorted.Buyers {
		b := &sorted.Buyers[i]
		b.States, b.Suppression = sortedCopy(b.States), sortedCopy(b.Suppression)
		b.Suppliers, b.NotSuppliers = sortedCopy(b.Suppliers), sortedCopy(b.NotSuppliers)
		b.OAuthClients = sortedClients(b.OAuthClients)
	}
	for i := range sorted.Campaigns {
		sorted.Campaigns[i] = withSortedSetsAndFilterSets(sorted.Campaigns[i])
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(&sorted); err != nil {
		panic("BUG: the form does not encode: " + err.Error())
	}
	text := bytes.ReplaceAll(bytes.TrimRight(out.Bytes(), "\n"), []byte("${"), []byte("$${"))
	return []byte(syntax.RestoreVariableBraces(string(text)))
}

// withSortedSetsAndFilterSets returns the campaign with its lists of names sorted, and its filter
// sets by priority.
func withSortedSetsAndFilterSets(c schema.Campaign) schema.Campaign {
	c.Suppliers = sortedCopy(c.Suppliers)
	c.ConsentSources = sortedCopy(c.ConsentSources)
	c.ConsentHosts = sortedCopy(c.ConsentHosts)
	c.Suppression = sortedCopy(c.Suppression)
	c.Duplicates.Fields = sortedCopy(c.Duplicates.Fields)
	c.Returns.Reasons = sortedCopy(c.Returns.Reasons)
	c.Terms = slices.Clone(c.Terms)
	for i := range c.Terms {
		c.Terms[i].Suppliers = sortedCopy(c.Terms[i].Suppliers)
		c.Terms[i].Sources = sortedCopy(c.Terms[i].Sources)
	}
	c.Buyers = slices.Clone(c.Buyers)
	slices.SortFunc(c.Buyers, func(a, b schema.FilterSet) int {
		return cmp.Or(cmp.Compare(*a.Priority, *b.Priority), cmp.Compare(a.Buyer, b.Buyer), cmp.Compare(a.ID, b.ID))
	})
	for i := range c.Buyers {
		c.Buyers[i].States = sortedCopy(c.Buyers[i].States)
		c.Buyers[i].Suppliers = sortedCopy(c.Buyers[i].Suppliers)
		c.Buyers[i].NotSuppliers = sortedCopy(c.Buyers[i].NotSuppliers)
	}
	return c
}

func sortedClients(clients []schema.OAuthClient) []schema.OAuthClient {
	clients = sortedBy(clients, func(c *schema.OAuthClient) string { return c.ClientID })
	for i := range clients {
		clients[i].Scopes = sortedCopy(clients[i].Scopes)
	}
	return clients
}

func sortedBy[T any](list []T, key func(*T) string) []T {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(key(&a), key(&b)) })
	return list
}

// sortedCopy returns a sorted copy of the names. It keeps repeated names.
func sortedCopy(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return names
}
