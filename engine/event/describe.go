package event

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"pingpost/engine/market"
)

// Describe renders a fact as a JSON object for a person who reads a log. What
// would tell who a lead is, or a secret, is left out: sealed parts show their
// length, hashes their first bytes.
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
	case *PostSettled:
		d.settled(e)
	case *FundsMoved:
		d.uint("buyer", uint64(e.Buyer))
		d.text("amount", e.Amount.String())
		d.flag("opening", e.Opening)
	case *DoorSet:
		d.uint("door", uint64(e.Door))
		d.uint("ref", uint64(e.Ref))
		d.flag("paused", e.Paused)
	case *ListLoaded:
		d.uint("list", uint64(e.List))
		d.text("file", e.File)
		d.uint("entries", e.Entries)
		d.flag("uploaded", e.Uploaded)
	case *StatusChanged:
		d.changes(e)
	case *HookTried:
		d.hook(e)
	case *HooksSwitched:
		d.uint("supplier", uint64(e.Supplier))
		d.flag("off", e.Off)
	case *LeadsErased:
		d.erased(e)
	case *UserSet, *APITokenSet:
		d.access(e)
	}
	if by := By(e); by != "" {
		d.text("by", by)
	}
	return "{" + strings.Join(d, ",") + "}"
}

// access tells of an operator's account, or of its token.
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

// describer collects members.
type describer []string

func (d *describer) add(name, value string) { *d = append(*d, strconv.Quote(name)+":"+value) }

func (d *describer) uint(name string, v uint64) {
	if v != 0 {
		d.add(name, strconv.FormatUint(v, 10))
	}
}

func (d *describer) text(name, v string) {
	if v != "" {
		d.add(name, string(market.AppendJSONString(nil, []byte(v))))
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

func (d *describer) names(e *NamesGiven) {
	given := make([]string, 0, len(e.Names))
	for i := range e.Names {
		given = append(given, fmt.Sprintf(`{"kind":%d,"ref":%d,"id":%s}`,
			e.Names[i].Kind, e.Names[i].Ref, market.AppendJSONString(nil, []byte(e.Names[i].ID))))
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
	d.text("post", e.Post.URL)
	if !e.Auction.ID.IsZero() {
		d.text("auction", e.Auction.ID.String())
		d.bids(e.Auction.Bids)
	}
	d.sealed(e.Slot, e.Sealed)
	d.owes(e.Hook)
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
	d.owes(e.Hook)
}

// sealed tells of a contact part how long it is, and which key opens it.
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

// owes tells what the supplier is to be told.
func (d *describer) owes(hook market.HookType) {
	if hook != market.HookNone {
		d.text("hook", hook.String())
	}
}

func (d *describer) trail(trail []Step) {
	steps := make([]string, 0, len(trail))
	for i := range trail {
		var seats []string
		for seat := trail[i].Seats.Next(0); seat >= 0; seat = trail[i].Seats.Next(seat + 1) {
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
	inner.add("seat", strconv.Itoa(int(s.Seat)))
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
