package event

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// Describe renders an event as a JSON object for a person who reads a log. It leaves out
// secrets and personal data: sealed parts show their length, hashes their first bytes.
// Member names are part of the output format and never change.
func Describe(e Event) string {
	d := describer{}
	switch e := e.(type) {
	case *Founded:
		d.hex("epoch", e.Epoch[:])
	case *NamesGiven:
		d.names(e)
	case *CatalogSet:
		d.uint("version", uint64(e.Version))
		d.text("document", e.Document)
		d.text("overlay", e.Overlay)
		d.text("from", e.From.String())
	case *CredentialSet:
		d.credential(e)
	case *SecretSet:
		d.text("name", e.Name)
		d.uint("sealed_bytes", uint64(len(e.Sealed)))
	case *LeadDecided:
		d.lead(e)
	case *AuctionHeld:
		d.auction(e)
	case *PostTried:
		d.text("lead", e.Lead.String())
		d.uint("attempt", uint64(e.Attempt))
		d.uint("status", uint64(e.Status))
		d.fault(e.Fault)
		d.verdict(e.Verdict)
		d.text("code", e.Code)
		d.flag("free", e.Free)
	case *PostSettled:
		d.settled(e)
	case *FundsMoved:
		d.uint("buyer", uint64(e.Buyer))
		d.text("amount", e.Amount.String())
		d.flag("opening", e.Opening)
	case *PauseSet:
		d.uint("door", uint64(e.Target))
		d.uint("ref", uint64(e.Ref))
		d.flag("paused", e.Paused)
	case *ListLoaded:
		d.uint("list", uint64(e.List))
		d.text("file", e.File)
		d.uint("entries", e.Entries)
		d.flag("uploaded", e.Uploaded)
	case *StatusChanged:
		d.changes(e)
	case *WebhookTried:
		d.webhookTried(e)
	case *WebhooksSwitched:
		d.uint("supplier", uint64(e.Supplier))
		d.flag("off", e.Off)
	case *LeadsErased:
		d.erased(e)
	case *UserSet, *APITokenSet:
		d.access(e)
	}
	if by := RequestedBy(e); by != "" {
		d.text("by", by)
	}
	return "{" + strings.Join(d, ",") + "}"
}

// access adds the members of an operator's account or token.
func (d *describer) access(e Event) {
	switch e := e.(type) {
	case *UserSet:
		d.text("user", e.Name)
		d.text("role", e.Role.String())
		d.flag("removed", e.Removed)
	case *APITokenSet:
		d.text("user", e.User)
		d.text("name", e.Name)
		d.text("role", e.Role.String())
		d.text("hint", e.Hint)
		d.flag("revoked", e.Revoked)
	}
}

// describer collects JSON members.
type describer []string

func (d *describer) add(name, value string) { *d = append(*d, strconv.Quote(name)+":"+value) }

func (d *describer) uint(name string, v uint64) {
	if v != 0 {
		d.add(name, strconv.FormatUint(v, 10))
	}
}

func (d *describer) text(name, v string) {
	if v != "" {
		d.add(name, string(escape.AppendJSONString(nil, []byte(v))))
	}
}

func (d *describer) hex(name string, v []byte) { d.text(name, hex.EncodeToString(v)) }

func (d *describer) flag(name string, v bool) {
	if v {
		d.add(name, "true")
	}
}

func (d *describer) fault(f market.Fault) {
	if f != market.FaultNone {
		d.text("fault", f.String())
	}
}

func (d *describer) verdict(v market.Verdict) {
	if v != 0 {
		d.text("verdict", v.String())
	}
}

func (d *describer) names(e *NamesGiven) {
	given := make([]string, 0, len(e.Names))
	for i := range e.Names {
		given = append(given, fmt.Sprintf(`{"kind":%d,"ref":%d,"id":%s}`,
			e.Names[i].Kind, e.Names[i].Ref, escape.AppendJSONString(nil, []byte(e.Names[i].ID))))
	}
	d.add("names", "["+strings.Join(given, ",")+"]")
	d.uint("caps", uint64(len(e.Caps)))
}

func (d *describer) lead(e *LeadDecided) {
	d.text("lead", e.Lead.String())
	d.text("request", e.Request.String())
	d.uint("campaign", uint64(e.Campaign))
	d.uint("supplier", uint64(e.Supplier))
	d.uint("catalog", uint64(e.Catalog))
	d.text("reason", e.Reason.String())
	if !e.DuplicateOf.IsZero() {
		d.text("duplicate_of", e.DuplicateOf.String())
	}
	d.trail(e.Trail)
	d.sale("sale", &e.Sale)
	d.text("post", escape.FormatPlaceholders(e.Post.URL))
	if !e.Auction.ID.IsZero() {
		d.text("auction", e.Auction.ID.String())
		d.bids(e.Auction.Bids)
	}
	d.sealed(e.Slot, e.Sealed)
	d.webhookType(e.Webhook)
}

func (d *describer) settled(e *PostSettled) {
	d.text("lead", e.Lead.String())
	d.text("settlement", e.Settlement.String())
	d.sale("sale", &e.Sale)
	d.uint("status", uint64(e.Status))
	d.fault(e.Fault)
	d.uint("attempts", uint64(e.Attempts))
	d.text("buyer_lead", e.BuyerLead)
	d.text("code", e.Code)
	d.text("reason", e.Reason.String())
	d.trail(e.Trail)
	d.sale("next", &e.Next)
	d.sealed(e.Slot, e.Sealed)
	d.webhookType(e.Webhook)
}

// sealed adds a contact part's length and the slot of its key.
func (d *describer) sealed(slot uint64, part []byte) {
	d.uint("sealed_bytes", uint64(len(part)))
	d.uint("slot", slot)
}

func (d *describer) erased(e *LeadsErased) {
	leads := make([]string, 0, len(e.Leads))
	for i := range e.Leads {
		leads = append(leads, strconv.Quote(e.Leads[i].String()))
	}
	slots := make([]string, 0, len(e.Slots))
	for _, slot := range e.Slots {
		slots = append(slots, strconv.FormatUint(slot, 10))
	}
	d.add("leads", "["+strings.Join(leads, ",")+"]")
	d.add("slots", "["+strings.Join(slots, ",")+"]")
}

// webhookType adds the webhook that the event causes.
func (d *describer) webhookType(hook market.WebhookType) {
	if hook != market.WebhookNone {
		d.text("hook", hook.String())
	}
}

func (d *describer) trail(trail []Step) {
	steps := make([]string, 0, len(trail))
	for i := range trail {
		var seats []string
		for seat := trail[i].FilterSets.Next(0); seat >= 0; seat = trail[i].FilterSets.Next(seat + 1) {
			seats = append(seats, strconv.Itoa(seat))
		}
		steps = append(steps, fmt.Sprintf("%q:[%s]", trail[i].Outcome, strings.Join(seats, ",")))
	}
	if len(steps) > 0 {
		d.add("trail", "{"+strings.Join(steps, ",")+"}")
	}
}

func (d *describer) sale(name string, s *Sale) {
	if s.Buyer == 0 {
		d.flag("test", s.Test)
		return
	}
	inner := describer{}
	inner.uint("buyer", uint64(s.Buyer))
	inner.add("seat", strconv.Itoa(int(s.FilterSet)))
	inner.add("price", s.Price.String())
	inner.add("payout", s.Payout.String())
	inner.text("currency", s.Currency.String())
	inner.uint("caps", uint64(len(s.Charges)))
	inner.name("ping", s.Ping)
	inner.flag("test", s.Test)
	d.add(name, "{"+strings.Join(inner, ",")+"}")
}

func (d *describer) credential(e *CredentialSet) {
	d.text("credential", e.Credential.String())
	d.uint("owner_kind", uint64(e.Owner))
	d.uint("owner", uint64(e.OwnerRef))
	d.text("client", e.Client)
	d.text("scopes", e.Scopes.String())
	d.text("hint", e.Hint)
	d.flag("revoked", e.Revoked)
}

// auction leaves out the ping's fields of the lead and every token, because a token allows
// selling or buying at the bid.
func (d *describer) auction(e *AuctionHeld) {
	d.text("auction", e.Auction.String())
	d.text("request", e.Request.String())
	d.uint("campaign", uint64(e.Campaign))
	d.uint("supplier", uint64(e.Supplier))
	d.uint("catalog", uint64(e.Catalog))
	d.uint("hops", uint64(e.Hops))
	d.name("name", e.Name)
	d.text("theirs", e.SellerAuction)
	d.text("reason", e.Reason.String())
	d.trail(e.Trail)
	d.bids(e.Bids)
	d.uint("fields", uint64(len(e.Fields)))
	d.flag("test", e.Test)
}

// nameBytes is the number of bytes shown of an auction's name: enough to find its sale.
const nameBytes = 6

func (d *describer) name(member string, name [16]byte) {
	if name != [16]byte{} {
		d.hex(member, name[:nameBytes])
	}
}

func (d *describer) bids(bids []Bid) {
	if len(bids) == 0 {
		return
	}
	all := make([]string, 0, len(bids))
	for i := range bids {
		all = append(all, bids[i].describe())
	}
	d.add("bids", "["+strings.Join(all, ",")+"]")
}

func (b *Bid) describe() string {
	d := describer{}
	d.uint("buyer", uint64(b.Buyer))
	d.uint("seat", uint64(b.FilterSet))
	d.text("outcome", b.Outcome.String())
	if b.Amount != 0 {
		d.add("amount", b.Amount.String())
	}
	if b.Payout != 0 {
		d.add("payout", b.Payout.String())
	}
	if b.Currency != (market.Currency{}) {
		d.text("currency", b.Currency.String())
	}
	if b.Elapsed > 0 {
		d.uint("elapsed_us", uint64(b.Elapsed)/1000)
	}
	d.uint("status", uint64(b.Status))
	if b.Fault != market.FaultNone {
		d.text("fault", b.Fault.String())
	}
	d.text("reason", b.Reason)
	return "{" + strings.Join(d, ",") + "}"
}

// changes leaves out the reporter's reasons, because they may name a person.
func (d *describer) changes(e *StatusChanged) {
	d.text("request", e.Request.String())
	d.uint("buyer", uint64(e.Buyer))
	all := make([]string, 0, len(e.Changes))
	for i := range e.Changes {
		c := &e.Changes[i]
		inner := describer{}
		inner.text("lead", c.Lead.String())
		inner.text("result", c.Result.String())
		inner.text("from", c.From.String())
		inner.text("to", c.To.String())
		inner.flag("waited", c.WasPending)
		inner.webhookType(c.Webhook)
		if c.Return.Credit != 0 {
			inner.add("credit", c.Return.Credit.String())
		}
		if c.Return.Reverse != 0 {
			inner.add("reverse", c.Return.Reverse.String())
		}
		inner.uint("caps", uint64(len(c.Return.Charges)))
		inner.rejections(c.Rejections)
		all = append(all, "{"+strings.Join(inner, ",")+"}")
	}
	d.add("changes", "["+strings.Join(all, ",")+"]")
}

// rejections adds the rejections as the reporter's messages.
func (d *describer) rejections(objections []market.ReportRejection) {
	if len(objections) == 0 {
		return
	}
	all := make([]string, len(objections))
	for i, objection := range objections {
		all[i] = strconv.Quote(objection.String())
	}
	d.add("objections", "["+strings.Join(all, ",")+"]")
}

func (d *describer) webhookTried(e *WebhookTried) {
	d.text("lead", e.Lead.String())
	d.text("type", e.Type.String())
	d.uint("supplier", uint64(e.Supplier))
	d.uint("attempt", uint64(e.Attempt))
	d.text("outcome", e.Outcome.String())
	d.uint("status", uint64(e.Status))
	if e.Fault != market.FaultNone {
		d.text("fault", e.Fault.String())
	}
}
