package event

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// DescribeAsJSON returns the event as a JSON object for a person who reads a log. It leaves out
// secrets and personal data. Of sealed (encrypted) parts it shows only the length, of auction
// names, which are hashes, the first bytes. The member names are part of the output format and
// never change.
func DescribeAsJSON(e Event) string {
	d := jsonDescription{}
	switch e := e.(type) {
	case *Founded:
		d.addHex("epoch", e.Epoch[:])
	case *NamesNumbered:
		d.addNames(e)
	case *CatalogSet:
		d.addUint("version", uint64(e.Version))
		d.addText("document", e.Document)
		d.addText("overlay", e.Overlay)
		d.addText("from", e.From.String())
	case *CredentialSet:
		d.addCredentialSet(e)
	case *SecretSet:
		d.addText("name", e.Name)
		d.addUint("sealed_bytes", uint64(len(e.Sealed)))
	case *LeadDecided:
		d.addLeadDecided(e)
	case *AuctionHeld:
		d.addAuctionHeld(e)
	case *PostAttempted:
		d.addText("lead", e.Lead.String())
		d.addUint("attempt", uint64(e.Attempt))
		d.addUint("status", uint64(e.Status))
		d.addFault(e.Fault)
		d.addVerdict(e.Verdict)
		d.addText("code", e.Code)
		d.addFlag("free", e.KeepsAttempt)
	case *PostSettled:
		d.addPostSettled(e)
	case *BuyerFundsMoved:
		d.addUint("buyer", uint64(e.Buyer))
		d.addText("amount", e.Amount.String())
		d.addFlag("opening", e.Opening)
	case *PauseSet:
		d.addUint("door", uint64(e.Target))
		d.addUint("ref", uint64(e.Ref))
		d.addFlag("paused", e.Paused)
	case *SuppressionListLoaded:
		d.addUint("list", uint64(e.List))
		d.addText("file", e.File)
		d.addUint("entries", e.Entries)
		d.addFlag("uploaded", e.Uploaded)
	case *StatusChanged:
		d.addStatusChanged(e)
	case *WebhookAttempted:
		d.addWebhookAttempt(e)
	case *WebhooksSwitched:
		d.addUint("supplier", uint64(e.Supplier))
		d.addFlag("off", e.Off)
	case *LeadsErased:
		d.addErasedLeads(e)
	case *UserSet, *APITokenSet:
		d.addUserOrToken(e)
	}
	if by := RequestedBy(e); by != "" {
		d.addText("by", by)
	}
	return "{" + strings.Join(d, ",") + "}"
}

// addUserOrToken adds the members that describe a UserSet or an APITokenSet event.
func (d *jsonDescription) addUserOrToken(e Event) {
	switch e := e.(type) {
	case *UserSet:
		d.addText("user", e.Name)
		d.addText("role", e.Role.String())
		d.addFlag("removed", e.Removed)
	case *APITokenSet:
		d.addText("user", e.User)
		d.addText("name", e.Name)
		d.addText("role", e.Role.String())
		d.addText("hint", e.Hint)
		d.addFlag("revoked", e.Revoked)
	}
}

// jsonDescription collects the members of a JSON object, each as the text "name":value.
type jsonDescription []string

// addMember adds a member whose value is JSON text.
func (d *jsonDescription) addMember(name, value string) {
	*d = append(*d, strconv.Quote(name)+":"+value)
}

// addUint adds a number. Zero is left out.
func (d *jsonDescription) addUint(name string, v uint64) {
	if v != 0 {
		d.addMember(name, strconv.FormatUint(v, 10))
	}
}

// addText adds a text. An empty text is left out.
func (d *jsonDescription) addText(name, v string) {
	if v != "" {
		d.addMember(name, string(escape.AppendJSONString(nil, []byte(v))))
	}
}

func (d *jsonDescription) addHex(name string, v []byte) { d.addText(name, hex.EncodeToString(v)) }

// addFlag adds the member with value true, or leaves it out if v is false.
func (d *jsonDescription) addFlag(name string, v bool) {
	if v {
		d.addMember(name, "true")
	}
}

func (d *jsonDescription) addFault(f market.Fault) {
	if f != market.FaultNone {
		d.addText("fault", f.String())
	}
}

func (d *jsonDescription) addVerdict(v market.PostVerdict) {
	if v != 0 {
		d.addText("verdict", v.String())
	}
}

func (d *jsonDescription) addNames(e *NamesNumbered) {
	given := make([]string, 0, len(e.Names))
	for i := range e.Names {
		given = append(given, fmt.Sprintf(`{"kind":%d,"ref":%d,"id":%s}`,
			e.Names[i].Kind, e.Names[i].Ref, escape.AppendJSONString(nil, []byte(e.Names[i].ID))))
	}
	d.addMember("names", "["+strings.Join(given, ",")+"]")
	d.addUint("caps", uint64(len(e.Caps)))
}

func (d *jsonDescription) addLeadDecided(e *LeadDecided) {
	d.addText("lead", e.Lead.String())
	d.addText("request", e.Request.String())
	d.addUint("campaign", uint64(e.Campaign))
	d.addUint("supplier", uint64(e.Supplier))
	d.addUint("catalog", uint64(e.Catalog))
	d.addText("reason", e.Reason.String())
	if !e.DuplicateOf.IsZero() {
		d.addText("duplicate_of", e.DuplicateOf.String())
	}
	d.addTrail(e.Trail)
	d.addSale("sale", &e.Sale)
	d.addText("post", escape.ShowPlaceholders(e.Post.URL))
	if !e.Auction.ID.IsZero() {
		d.addText("auction", e.Auction.ID.String())
		d.addBids(e.Auction.Bids)
	}
	d.addSealedSize(e.Slot, e.Sealed)
	d.addWebhookType(e.Webhook)
}

func (d *jsonDescription) addPostSettled(e *PostSettled) {
	d.addText("lead", e.Lead.String())
	d.addText("settlement", e.Settlement.String())
	d.addSale("sale", &e.Sale)
	d.addUint("status", uint64(e.Status))
	d.addFault(e.Fault)
	d.addUint("attempts", uint64(e.Attempts))
	d.addText("buyer_lead", e.BuyerLead)
	d.addText("code", e.Code)
	d.addText("reason", e.Reason.String())
	d.addTrail(e.Trail)
	d.addSale("next", &e.Next)
	d.addSealedSize(e.Slot, e.Sealed)
	d.addWebhookType(e.Webhook)
}

// addSealedSize adds the length of a lead's sealed personal data and the slot of its key.
func (d *jsonDescription) addSealedSize(slot uint64, part []byte) {
	d.addUint("sealed_bytes", uint64(len(part)))
	d.addUint("slot", slot)
}

func (d *jsonDescription) addErasedLeads(e *LeadsErased) {
	leads := make([]string, 0, len(e.Leads))
	for i := range e.Leads {
		leads = append(leads, strconv.Quote(e.Leads[i].String()))
	}
	slots := make([]string, 0, len(e.Slots))
	for _, slot := range e.Slots {
		slots = append(slots, strconv.FormatUint(slot, 10))
	}
	d.addMember("leads", "["+strings.Join(leads, ",")+"]")
	d.addMember("slots", "["+strings.Join(slots, ",")+"]")
}

// addWebhookType adds the type of the webhook that the event triggers, if it triggers one.
func (d *jsonDescription) addWebhookType(webhookType market.WebhookType) {
	if webhookType != market.WebhookNone {
		d.addText("hook", webhookType.String())
	}
}

// addTrail adds the outcomes of a decision, each with the numbers of its filter sets.
func (d *jsonDescription) addTrail(trail []OutcomeFilterSets) {
	steps := make([]string, 0, len(trail))
	for i := range trail {
		var sets []string
		for set := trail[i].FilterSets.NextFrom(0); set >= 0; set = trail[i].FilterSets.NextFrom(set + 1) {
			sets = append(sets, strconv.Itoa(set))
		}
		steps = append(steps, fmt.Sprintf("%q:[%s]", trail[i].Outcome, strings.Join(sets, ",")))
	}
	if len(steps) > 0 {
		d.addMember("trail", "{"+strings.Join(steps, ",")+"}")
	}
}

// addSale adds a sale under the name. Without a buyer it adds only whether the lead is a test
// lead.
func (d *jsonDescription) addSale(name string, s *Sale) {
	if s.Buyer == 0 {
		d.addFlag("test", s.Test)
		return
	}
	inner := jsonDescription{}
	inner.addUint("buyer", uint64(s.Buyer))
	inner.addMember("seat", strconv.Itoa(int(s.FilterSet)))
	inner.addMember("price", s.Price.String())
	inner.addMember("payout", s.Payout.String())
	inner.addText("currency", s.Currency.String())
	inner.addUint("caps", uint64(len(s.Charges)))
	inner.addAuctionName("ping", s.Ping)
	inner.addFlag("test", s.Test)
	d.addMember(name, "{"+strings.Join(inner, ",")+"}")
}

func (d *jsonDescription) addCredentialSet(e *CredentialSet) {
	d.addText("credential", e.Credential.String())
	d.addUint("owner_kind", uint64(e.Owner))
	d.addUint("owner", uint64(e.OwnerRef))
	d.addText("client", e.Client)
	d.addText("scopes", e.Scopes.String())
	d.addText("hint", e.Hint)
	d.addFlag("revoked", e.Revoked)
}

// addAuctionHeld adds the members of an AuctionHeld event. It leaves out the lead's fields, and
// every token, because a token allows its holder to sell or buy at the bid.
func (d *jsonDescription) addAuctionHeld(e *AuctionHeld) {
	d.addText("auction", e.Auction.String())
	d.addText("request", e.Request.String())
	d.addUint("campaign", uint64(e.Campaign))
	d.addUint("supplier", uint64(e.Supplier))
	d.addUint("catalog", uint64(e.Catalog))
	d.addUint("hops", uint64(e.Hops))
	d.addAuctionName("name", e.Name)
	d.addText("theirs", e.SellerAuction)
	d.addText("reason", e.Reason.String())
	d.addTrail(e.Trail)
	d.addBids(e.Bids)
	d.addUint("fields", uint64(len(e.Fields)))
	d.addFlag("test", e.Test)
}

// auctionNameBytes is the number of bytes shown of an auction's name. They are enough to find the
// sale that names the auction.
const auctionNameBytes = 6

func (d *jsonDescription) addAuctionName(member string, name [16]byte) {
	if name != [16]byte{} {
		d.addHex(member, name[:auctionNameBytes])
	}
}

func (d *jsonDescription) addBids(bids []Bid) {
	if len(bids) == 0 {
		return
	}
	all := make([]string, 0, len(bids))
	for i := range bids {
		all = append(all, bids[i].describeAsJSON())
	}
	d.addMember("bids", "["+strings.Join(all, ",")+"]")
}

// describeAsJSON returns the bid as a JSON object without the buyer's token.
func (b *Bid) describeAsJSON() string {
	d := jsonDescription{}
	d.addUint("buyer", uint64(b.Buyer))
	d.addUint("seat", uint64(b.FilterSet))
	d.addText("outcome", b.Outcome.String())
	if b.Amount != 0 {
		d.addMember("amount", b.Amount.String())
	}
	if b.Payout != 0 {
		d.addMember("payout", b.Payout.String())
	}
	if b.Currency != (market.Currency{}) {
		d.addText("currency", b.Currency.String())
	}
	if b.Elapsed > 0 {
		d.addUint("elapsed_us", uint64(b.Elapsed)/1000)
	}
	d.addUint("status", uint64(b.Status))
	if b.Fault != market.FaultNone {
		d.addText("fault", b.Fault.String())
	}
	d.addText("reason", b.Reason)
	return "{" + strings.Join(d, ",") + "}"
}

// addStatusChanged adds the members of a StatusChanged event. It leaves out the reporter's
// reasons, because they may name a person.
func (d *jsonDescription) addStatusChanged(e *StatusChanged) {
	d.addText("request", e.Request.String())
	d.addUint("buyer", uint64(e.Buyer))
	all := make([]string, 0, len(e.Changes))
	for i := range e.Changes {
		c := &e.Changes[i]
		inner := jsonDescription{}
		inner.addText("lead", c.Lead.String())
		inner.addText("result", c.Result.String())
		inner.addText("from", c.From.String())
		inner.addText("to", c.To.String())
		inner.addFlag("waited", c.WasPending)
		inner.addWebhookType(c.Webhook)
		if c.Return.Credit != 0 {
			inner.addMember("credit", c.Return.Credit.String())
		}
		if c.Return.Reverse != 0 {
			inner.addMember("reverse", c.Return.Reverse.String())
		}
		inner.addUint("caps", uint64(len(c.Return.Charges)))
		inner.addRejections(c.Rejections)
		all = append(all, "{"+strings.Join(inner, ",")+"}")
	}
	d.addMember("changes", "["+strings.Join(all, ",")+"]")
}

// addRejections adds the messages that the reporter received for its rejected change.
func (d *jsonDescription) addRejections(rejections []market.ReportRejection) {
	if len(rejections) == 0 {
		return
	}
	all := make([]string, len(rejections))
	for i, objection := range rejections {
		all[i] = strconv.Quote(objection.String())
	}
	d.addMember("objections", "["+strings.Join(all, ",")+"]")
}

func (d *jsonDescription) addWebhookAttempt(e *WebhookAttempted) {
	d.addText("lead", e.Lead.String())
	d.addText("type", e.Type.String())
	d.addUint("supplier", uint64(e.Supplier))
	d.addUint("attempt", uint64(e.Attempt))
	d.addText("outcome", e.Outcome.String())
	d.addUint("status", uint64(e.Status))
	if e.Fault != market.FaultNone {
		d.addText("fault", e.Fault.String())
	}
}
