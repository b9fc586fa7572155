package person

import (
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
	"pingpost/report"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
	"pingpost/server/ratelimit"
)

// Store finds leads and opens their contact data. The exchange implements it.
type Store interface {
	// FindLeadsOfPerson returns one page of the leads of a person, newest first. The errors are those
	// of the report.
	FindLeadsOfPerson(query *Query) (*Page, error)
	// RevealContact returns the contact data of a lead. The error is engine.ErrNotFound for an unknown
	// lead, and engine.ErrErased for one whose contact data was erased.
	RevealContact(lead market.LeadID) ([]ContactField, error)
}

// Query selects the leads of a person. Exactly one of Phone and Email is set.
type Query struct {
	Phone string        // E.164
	Email string        // in lower case
	After market.LeadID // zero: from the newest lead on
	Limit int
}

// Page is one page of the leads of a person, newest first.
type Page struct {
	Leads    []Lead
	Next     market.LeadID // After of the next page; zero: no more leads
	Complete bool          // false: the report has not yet read the newest leads
	Begins   int64         // Unix nanoseconds: leads before are not found; zero: all leads are found
}

// Lead is a lead of a person.
type Lead struct {
	report.FoundLead

	Contact []ContactField // nil: the log no longer has it, or its key is unreadable
}

// ContactField is a field of a lead's contact data.
type ContactField struct{ Name, Value string }

// Limits of the two operations.
const (
	defaultLeads    = 50
	maxLeads        = 200
	maxSearches     = 2 // at the same time
	maxMaskedFields = 20
	maxFieldName    = 40  // bytes
	maxReason       = 500 // characters
	maxPhone        = 64  // bytes
	maxEmail        = 320 // bytes
)

var (
	errTooManyFinds    = httperror.New(429, errcode.RateLimited, "You search for persons too often. Try again after the time in Retry-After.")
	errTooManyReveals  = httperror.New(429, errcode.RateLimited, "You reveal contact data too often. Try again after the time in Retry-After.")
	errTooManySearches = httperror.New(503, errcode.Unavailable, "Too many searches for persons or reveals of contact data are running. Send this request again after the time in Retry-After.")
	errErased          = httperror.New(404, errcode.NotFound, "The contact data of this lead was erased.")
)

// Handlers answers the operations on persons. Its limits are per verified operator, so that a stolen
// session cannot read out the contact data of all leads.
type Handlers struct {
	store     Store
	finds     *ratelimit.TokenBuckets[string]
	reveals   *ratelimit.TokenBuckets[string]
	running   chan struct{} // has an element for each running search
	revealing chan struct{} // has an element for each lead that is being revealed
}

// NewHandlers returns the handlers. An operator may search 60 times at once and then once a second,
// and reveal 20 leads at once and then one every six seconds.
func NewHandlers(store Store) *Handlers {
	return &Handlers{
		store: store, running: make(chan struct{}, maxSearches), revealing: make(chan struct{}, maxSearches),
		finds:   ratelimit.NewTokenBuckets[string](time.Second, 60),
		reveals: ratelimit.NewTokenBuckets[string](6*time.Second, 20),
	}
}

// FindLeads answers POST leads/find with the leads of a person, masked. operator is a verified name: one
// that clients choose themselves would give each of them a limit of its own.
func (h *Handlers) FindLeads(ctx *fasthttp.RequestCtx, rateLimitedOperator string) (answer any, err error) {
	query, err := readFindQuery(ctx)
	if err != nil {
		return nil, err
	}
	if ok, wait, _ := h.finds.Take(rateLimitedOperator, time.Now().UnixNano()); !ok {
		return nil, errTooManyFinds.WithRetryAfter(wait)
	}
	select {
	case h.running <- struct{}{}:
		defer func() { <-h.running }()
	default:
		return nil, errTooManySearches
	}
	page, err := h.store.FindLeadsOfPerson(query)
	if err != nil {
		return nil, err
	}
	ctx.Response.Header.Set("Cache-Control", "no-store")
	found := foundLeads{Leads: payload.ConvertAll(page.Leads, newFoundLead), Complete: page.Complete, Begins: payload.FormatTimeOrNull(page.Begins)}
	if !page.Next.IsZero() {
		found.Next = payload.NullIfEmpty(page.Next.String())
	}
	return found, nil
}

// foundLeads is the answer to POST leads/find, in JSON.
type foundLeads struct {
	Leads    []foundLead `json:"leads"`
	Next     *string     `json:"next"` // null: last page
	Complete bool        `json:"complete"`
	Begins   *string     `json:"searched_from"`
}

// foundLead is a lead in the answer to POST leads/find, in JSON.
type foundLead struct {
	ID       string            `json:"id"`
	At       string            `json:"at"`
	Contact  map[string]string `json:"contact"` // masked; null: not readable
	Campaign *string           `json:"campaign"`
	Supplier *string           `json:"supplier"`
	Buyer    *string           `json:"buyer"`
	Status   string            `json:"status"`
	Delivery string            `json:"delivery"`
	Reason   *string           `json:"reason"`
	Price    *market.Money     `json:"price"`
	Currency *string           `json:"currency"`
	Source   *string           `json:"source"`
	State    *string           `json:"state"`
	Test     bool              `json:"test"`
}

func newFoundLead(l *Lead) foundLead {
	row := foundLead{
		ID: l.ID.String(), At: payload.FormatTimeWithNanos(l.At), Campaign: payload.NullIfEmpty(l.Campaign), Supplier: payload.NullIfEmpty(l.Supplier), Buyer: payload.NullIfEmpty(l.Buyer),
		Status: l.Status.String(), Delivery: l.Delivery.String(), Reason: payload.NullIfEmpty(l.Reason.String()),
		Currency: payload.NullIfEmpty(l.Currency), Source: payload.NullIfEmpty(l.Source), State: payload.NullIfEmpty(l.State), Test: l.Test,
	}
	if l.Currency != "" {
		row.Price = &l.Price
	}
	if l.Contact != nil {
		row.Contact = maskPlainNamedFields(l.Contact)
	}
	return row
}

// maskPlainNamedFields returns contact fields masked, at most maxMaskedFields. It leaves out a name that is no
// plain word, because a supplier may send members of any name.
func maskPlainNamedFields(fields []ContactField) map[string]string {
	shown := make(map[string]string, len(fields))
	for _, field := range fields {
		if len(shown) < maxMaskedFields && isShortNameOfLettersOrDashes(field.Name) {
			shown[field.Name] = Mask(field.Value)
		}
	}
	return shown
}

func isShortNameOfLettersOrDashes(name string) bool {
	return len(name) <= maxFieldName && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz_-") == ""
}

// readFindQuery parses the body of POST leads/find. Its errors do not quote the values, which are personal.
func readFindQuery(ctx *fasthttp.RequestCtx) (*Query, error) {
	var body struct {
		Phone string `json:"phone"`
		Email string `json:"email"`
		Limit *int   `json:"limit"`
		After string `json:"after"`
	}
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	body.Phone, body.Email = strings.TrimSpace(body.Phone), strings.TrimSpace(body.Email)
	q := &Query{Limit: defaultLeads}
	var wrong payload.FieldErrors
	wrong.AddIf((body.Phone == "") == (body.Email == ""), "phone", errcode.FieldMissingRequired, "a phone number, or in its place an email")
	if body.Phone != "" {
		phone, ok := format.AppendPhoneAsE164(nil, []byte(body.Phone[:min(len(body.Phone), maxPhone)]))
		wrong.AddIf(!ok, "phone", errcode.FieldInvalidFormat, "a phone number, with + and the country's code unless it is a US one")
		q.Phone = string(phone)
	}
	if body.Email != "" {
		email, ok := NormalizeEmail([]byte(body.Email[:min(len(body.Email), maxEmail)]))
		wrong.AddIf(!ok, "email", errcode.FieldInvalidFormat, "an e-mail address")
		q.Email = string(email)
	}
	if body.Limit != nil {
		q.Limit = *body.Limit
		wrong.AddIf(q.Limit < 1 || q.Limit > maxLeads, "limit", errcode.FieldOutOfRange, "1 to "+strconv.Itoa(maxLeads))
	}
	if body.After != "" {
		var ok bool
		q.After, ok = market.ParseLeadID(body.After)
		wrong.AddIf(!ok, "after", errcode.FieldInvalidFormat, "next of the page before")
	}
	if len(wrong) > 0 {
		return nil, payload.NewInvalidFieldsError(wrong)
	}
	return q, nil
}

// NormalizeEmail returns an e-mail address in lower case, or false if the text is none. An erasure
// ignores the case of letters too.
func NormalizeEmail(text []byte) (address []byte, ok bool) {
	address, ok = format.AppendEmailWithLowerDomain(nil, text)
	return format.AppendLowerASCII(nil, address), ok
}

// RevealContact answers POST leads/{id}/reveal with the contact data of a lead. The body has the operator's
// reason, which the audit log records before this handler runs.
func (h *Handlers) RevealContact(ctx *fasthttp.RequestCtx, rateLimitedOperator string) (answer any, err error) {
	var body struct {
		Reason string `json:"reason"`
	}
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	reason := strings.TrimSpace(body.Reason)
	var wrong payload.FieldErrors
	wrong.AddIf(reason == "", "reason", errcode.FieldMissingRequired, "why you need the contact data; the audit log records it")
	wrong.AddIf(utf8.RuneCountInString(reason) > maxReason, "reason", errcode.FieldTooLong, "at most "+strconv.Itoa(maxReason)+" characters")
	if len(wrong) > 0 {
		return nil, payload.NewInvalidFieldsError(wrong)
	}
	lead, ok := market.ParseLeadID(payload.PathParameter(ctx, "id"))
	if !ok {
		return nil, engine.ErrNotFound
	}
	if ok, wait, _ := h.reveals.Take(rateLimitedOperator, time.Now().UnixNano()); !ok {
		return nil, errTooManyReveals.WithRetryAfter(wait)
	}
	select {
	case h.revealing <- struct{}{}: // each may read a large part of the log
		defer func() { <-h.revealing }()
	default:
		return nil, errTooManySearches
	}
	fields, err := h.store.RevealContact(lead)
	if errors.Is(err, engine.ErrErased) {
		return nil, errErased
	}
	if err != nil {
		return nil, err
	}
	contact := make(map[string]string, len(fields))
	for _, field := range fields {
		contact[field.Name] = field.Value
	}
	ctx.Response.Header.Set("Cache-Control", "no-store")
	return map[string]any{"lead_id": lead.String(), "contact": contact}, nil
}
