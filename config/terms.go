package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// hostName matches a DNS name of two labels or more, in lower case.
var hostName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// compileConsentHosts returns the hosts from which a lead's consent certificate may come,
// sorted. An empty list allows all hosts.
func (c *compiler) compileConsentHosts(at syntax.KeyPath, names []string) []string {
	seen := make(map[string]syntax.KeyPath, len(names))
	for i, name := range names {
		if host := strings.TrimPrefix(name, "*."); len(host) > 253 || !hostName.MatchString(host) {
			c.reportMistake(at.Index(i), "is not a host name; write for example cert.example in lower case, or *.cert.example for its subdomains")
			continue
		}
		c.checkUnique(at.Index(i), seen, name)
	}
	return slices.Sorted(slices.Values(names))
}

const (
	maxDuplicates = 3650 * schema.Day
)

func (c *compiler) compileDuplicates(at syntax.KeyPath, d *schema.DuplicateRule) market.DuplicateRule {
	rule := market.DuplicateRule{
		All:      d.Match == "all",
		Window:   d.Window.OrZero().Nanoseconds(),
		PerBuyer: d.Scope == "buyer",
		Shared:   d.Scope == "group" || d.Scope == "exchange",
		Group:    d.Group,
	}
	seen := make(map[string]syntax.KeyPath, len(d.Fields))
	for i, field := range d.Fields {
		if !c.checkOneOf(at.Key("fields").Index(i), field, "phone", "email") || !c.checkUnique(at.Key("fields").Index(i), seen, field) {
			continue
		}
		rule.Phone = rule.Phone || field == "phone"
		rule.Email = rule.Email || field == "email"
	}
	c.checkOneOf(at.Key("match"), d.Match, "any", "all")
	c.checkOneOf(at.Key("scope"), d.Scope, "campaign", "buyer", "group", "exchange")
	switch {
	case d.Scope == "group":
		c.checkID(at.Key("group"), d.Group)
	case d.Group != "":
		c.reportMistake(at.Key("group"), "has no effect without scope: group; set it, or remove group")
	}
	c.checkDurationRange(at.Key("window"), d.Window, 0, maxDuplicates)
	return rule
}

// warnDuplicateGroups warns about campaigns that share their check for duplicates with different
// fields or matches, and about a group with one campaign. A campaign looks for the values of its own
// fields only, so it would not find all leads of the others.
func (c *compiler) warnDuplicateGroups(campaigns []schema.Campaign) {
	first, size := make(map[string]int), make(map[string]int) // by group; "" is the exchange
	for i := range campaigns {
		d := &campaigns[i].Duplicates
		if d.Scope != "group" && d.Scope != "exchange" || d.Window.OrZero() == 0 {
			continue
		}
		size[d.Group]++
		at := syntax.KeyPath("campaigns").Index(i).Key("duplicates")
		if size[d.Group] == 1 {
			first[d.Group] = i
			continue
		}
		other := &campaigns[first[d.Group]].Duplicates
		if d.Match != other.Match || !slices.Equal(slices.Sorted(slices.Values(d.Fields)), slices.Sorted(slices.Values(other.Fields))) {
			c.addWarning(at, "shares its check with "+string(syntax.KeyPath("campaigns").Index(first[d.Group]))+", but has other fields or another match, so each finds only some duplicates of the other; use the same fields and match")
		}
	}
	for i := range campaigns {
		group := campaigns[i].Duplicates.Group
		if group != "" && size[group] == 1 && first[group] == i {
			c.addWarning(syntax.KeyPath("campaigns").Index(i).Key("duplicates").Key("group"), "no other campaign has this group, so only leads of this campaign count as duplicates; add the group to another campaign, or remove scope and group")
		}
	}
}

func (c *compiler) compilePayout(at syntax.KeyPath, p *schema.Payout) market.PayoutRule {
	switch {
	case p.Share != nil && p.Fixed != nil:
		c.reportMistake(at, "is a share or fixed, not both; keep one")
	case p.Fixed != nil:
		return market.PayoutRule{Fixed: *p.Fixed, IsFixed: true}
	}
	return market.PayoutRule{Share: market.ShareInMillionths(*p.Share)}
}

// maxTerms limits the entries of a campaign's terms, because the exchange compiles the campaign once
// for each.
const maxTerms = 100

// compileTerms compiles the terms for suppliers and sources of a campaign that has its other values.
func (c *compiler) compileTerms(at syntax.KeyPath, form *schema.Campaign, campaign *market.Campaign) []market.Terms {
	if len(form.Terms) > maxTerms {
		c.reportMistake(at, fmt.Sprintf("has %d entries, but a campaign can have at most %d; combine suppliers or sources, or divide the campaign", len(form.Terms), maxTerms))
	}
	out := make([]market.Terms, 0, len(form.Terms))
	seen := make(map[string]syntax.KeyPath, len(form.Terms))
	for i := range form.Terms {
		here, entry := at.Index(i), &form.Terms[i]
		if c.checkID(here.Key("id"), entry.ID) {
			c.checkUnique(here.Key("id"), seen, entry.ID)
		}
		floor, payout := form.FloorAndPayoutOf(entry)
		built := market.Terms{
			ID: entry.ID, Suppliers: c.compileAllowedSuppliers(here.Key("suppliers"), entry.Suppliers),
			Floor: floor, Payout: campaign.Payout, Caps: c.compileCaps(here.Key("caps"), entry.Caps, market.ScopeTerms, campaign.Zone),
		}
		if entry.Payout != nil {
			built.Payout = c.compilePayout(here.Key("payout"), payout)
		}
		c.checkUniquePrintableTexts(here.Key("sources"), entry.Sources, maxLabel)
		if len(entry.Sources) > 0 {
			built.Sources = setOf[string](entry.Sources)
		}
		c.warnUnusedTerms(here, form, i)
		out = append(out, built)
	}
	return out
}

// warnUnusedTerms warns about an entry of the campaign's terms that fits no lead, or fewer leads than it
// seems to.
func (c *compiler) warnUnusedTerms(at syntax.KeyPath, form *schema.Campaign, index int) {
	entry := &form.Terms[index]
	for i, supplier := range entry.Suppliers {
		if len(form.Suppliers) > 0 && !slices.Contains(form.Suppliers, supplier) {
			c.addWarning(at.Key("suppliers").Index(i), "may not send leads to the campaign, so these terms never apply to it; add it to the campaign's suppliers, or remove it here")
		}
	}
	for i, source := range entry.Sources {
		if strings.Contains(source, "*") {
			c.addWarning(at.Key("sources").Index(i), "has a *, which is no wildcard in sources; name each source, or omit sources for all")
		}
	}
	for i := range form.Terms[:index] {
		if earlier := &form.Terms[i]; covers(earlier.Suppliers, entry.Suppliers) && covers(earlier.Sources, entry.Sources) {
			c.addWarning(at, "never applies, because "+string(syntax.KeyPath("terms").Index(i))+" applies to all of its leads and comes first; move it up, or remove it")
			return
		}
	}
}

// covers reports whether a list of names has all names of another one. An empty list has all names.
func covers(list, other []string) bool {
	return len(list) == 0 || len(other) > 0 && !slices.ContainsFunc(other, func(name string) bool { return !slices.Contains(list, name) })
}

const (
	maxReturns = 365 * schema.Day
	maxReason  = 64
)

func (c *compiler) compileReturns(at syntax.KeyPath, r *schema.ReturnRule) market.ReturnRule {
	c.checkDurationRange(at.Key("window"), r.Window, 0, maxReturns)
	c.checkOneOf(at.Key("approval"), r.Approval, "auto", "manual")
	c.checkUniquePrintableTexts(at.Key("reasons"), r.Reasons, maxReason)
	rule := market.ReturnRule{
		Window: r.Window.OrZero(), Manual: r.Approval == "manual", RestoreCaps: r.CapBack,
		ReversePayout: *r.ReversePayout, MaxShare: market.ShareInMillionths(*r.MaxSharePerMonth),
	}
	if len(r.Reasons) > 0 {
		rule.Reasons = setOf[string](r.Reasons)
	}
	return rule
}

// checkUniquePrintableTexts reports texts of a list that are empty, repeated, unprintable or longer
// than maxBytes.
func (c *compiler) checkUniquePrintableTexts(at syntax.KeyPath, list []string, maxBytes int) {
	seen := make(map[string]syntax.KeyPath, len(list))
	for i, name := range list {
		if name == "" {
			c.reportMistake(at.Index(i), "is empty; fill it in or remove it")
			continue
		}
		c.checkPrintableText(at.Index(i), name, maxBytes)
		c.checkUnique(at.Index(i), seen, name)
	}
}
