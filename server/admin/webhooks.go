package admin

import (
	"strconv"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/engine/state"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// addWebhookRoutes registers the operations on suppliers' webhooks with the function add.
func (a *Admin) addWebhookRoutes(add func(method, path string, h fasthttp.RequestHandler)) {
	supplier := func(method, path string, h supplierOrBuyerHandler) {
		add(method, "/admin/v1/webhooks/{id}"+path, a.withSupplierOrBuyerFromPath(event.ObjectSupplier, h))
	}
	add("GET", "/admin/v1/webhooks", a.withEngine(a.listSupplierWebhooks))
	supplier("GET", "", a.getSupplierWebhookStatus)
	supplier("GET", "/dead", a.listSupplierDeadLetters)
	supplier("POST", "/dead/{event}/resend", a.deadLetterHandler(engine.OperatorActions.ResendDeadLetter))
	supplier("DELETE", "/dead/{event}", a.deadLetterHandler(engine.OperatorActions.DropDeadLetter))
	supplier("POST", "/resend", a.resendSupplierDeadLetters)
	supplier("POST", "/off", a.supplierWebhookSwitchHandler(true))
	supplier("POST", "/on", a.supplierWebhookSwitchHandler(false))
	supplier("POST", "/secret", a.rotateSupplierWebhookSecret)
	supplier("DELETE", "/secret/previous", a.removePreviousSupplierWebhookSecret)
}

// listSupplierWebhooks lists the suppliers that have a webhook in the configuration, or still have queued
// webhooks, dead letters or a switched-off webhook, with the status of each.
func (a *Admin) listSupplierWebhooks(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	list := []webhookStatus{}
	for ref := 1; ref <= e.State().CountPermanentNumbers(event.ObjectSupplier); ref++ {
		o := &supplierOrBuyer{engine: e, kind: event.ObjectSupplier, ref: market.PermanentNumber(ref), id: e.State().NameOf(event.ObjectSupplier, market.PermanentNumber(ref))}
		if o.configuredSupplierWebhookOrNil() != nil || e.State().OutboxStatus(o.ref) != (state.OutboxStatus{}) {
			list = append(list, a.supplierWebhookStatusOf(o))
		}
	}
	return map[string]any{"webhooks": list}, nil
}

// getSupplierWebhookStatus answers with the status of one supplier's webhook: address, queue, failures and
// secrets.
func (a *Admin) getSupplierWebhookStatus(_ *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
	return a.supplierWebhookStatusOf(o), nil
}

// configuredSupplierWebhookOrNil returns the webhook endpoint that the active configuration has for the
// supplier, or nil.
func (o *supplierOrBuyer) configuredSupplierWebhookOrNil() *market.OutboundEndpoint {
	if catalog := o.engine.ActiveCatalogOrNil(); catalog != nil {
		if supplier := catalog.Suppliers[market.SupplierID(o.id)]; supplier != nil {
			return supplier.Webhooks
		}
	}
	return nil
}

// webhookStatus is the status of one supplier's webhook, in JSON.
type webhookStatus struct {
	Supplier     string                  `json:"supplier_id"`
	URL          *string                 `json:"url"` // null: no longer configured
	Pending      int                     `json:"pending"`
	Dead         int                     `json:"dead"`
	Dropped      int                     `json:"dropped"`
	FailingSince *string                 `json:"failing_since"`
	Off          bool                    `json:"off"`
	Secrets      []webhookSecretHintJSON `json:"secrets"`
}

func (a *Admin) supplierWebhookStatusOf(o *supplierOrBuyer) webhookStatus {
	status := o.engine.State().OutboxStatus(o.ref)
	document := webhookStatus{
		Supplier: o.id, Pending: status.Pending, Dead: status.Dead, Dropped: status.Dropped, Off: status.Off, Secrets: a.listSupplierWebhookSecretHints(o),
	}
	if to := o.configuredSupplierWebhookOrNil(); to != nil {
		url := escape.RewritePlaceholdersForDisplay(to.URL)
		document.URL = &url
	}
	if status.FailingSince != 0 {
		document.FailingSince = payload.NullIfEmpty(payload.FormatTimeWithNanos(status.FailingSince))
	}
	return document
}

// Limits of a page of dead letters.
const (
	defaultDeadLetters = 100
	maxDeadLetters     = 1000
)

// listSupplierDeadLetters lists a supplier's dead letters (webhooks that the exchange gave up), oldest
// first. It skips the first after ones and returns at most limit. The answer's next is the
// value of after for the next page.
func (a *Admin) listSupplierDeadLetters(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
	after, err := readIntegerParameter(ctx, "after", 0, 0, 1<<31)
	if err != nil {
		return nil, err
	}
	limit, err := readIntegerParameter(ctx, "limit", defaultDeadLetters, 1, maxDeadLetters)
	if err != nil {
		return nil, err
	}
	dead, err := o.engine.ListDeadLetters(market.SupplierID(o.id), after, limit)
	if err != nil {
		return nil, err
	}
	total := o.engine.State().OutboxStatus(o.ref).Dead
	list := struct {
		Total int          `json:"total"`
		Next  *int         `json:"next"`
		Dead  []deadLetter `json:"dead"`
	}{Total: total, Dead: payload.ConvertAll(dead, newDeadLetter)}
	if next := after + limit; len(dead) == limit && next < total {
		list.Next = &next
	}
	return list, nil
}

// deadLetter is a webhook that the exchange gave up, in JSON: after too many failed attempts, or
// because the supplier's webhooks were switched off.
type deadLetter struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Lead     string `json:"lead_id"`
	Attempts uint64 `json:"attempts"`
	Created  string `json:"created_at"`
	Died     string `json:"died_at"`
}

func newDeadLetter(h *state.OutboxWebhook) deadLetter {
	return deadLetter{
		market.ComputeWebhookID(h.Lead, h.Type, h.Created).String(), h.Type.String(), h.Lead.String(), uint64(h.Attempts), payload.FormatTimeWithNanos(h.Created), payload.FormatTimeWithNanos(h.Due),
	}
}

// readIntegerParameter returns a query parameter that must be an integer from minimum to
// maximum, or defaultValue if it is missing.
func readIntegerParameter(ctx *fasthttp.RequestCtx, parameterName string, defaultValue, minimum, maximum int) (n int, err error) {
	if !ctx.QueryArgs().Has(parameterName) {
		return defaultValue, nil
	}
	n, err = strconv.Atoi(string(ctx.QueryArgs().Peek(parameterName)))
	if err != nil || n < minimum || n > maximum {
		err = payload.NewInvalidFieldError(parameterName, errcode.FieldOutOfRange, "a whole number from "+strconv.Itoa(minimum)+" to "+strconv.Itoa(maximum))
	}
	return n, err
}

// deadLetterHandler returns a handler that calls action with the dead letter that the path names:
// to send it again or to drop it.
func (a *Admin) deadLetterHandler(action func(engine.OperatorActions, market.LeadID, market.WebhookType) error) supplierOrBuyerHandler {
	return func(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
		id, ok := market.ParseWebhookID(payload.PathParameter(ctx, "event"))
		if !ok {
			return nil, httperror.New(404, errcode.NotFound, "There is no event of this id. Event ids begin with evt_.")
		}
		h, err := o.engine.FindDeadLetterByID(market.SupplierID(o.id), id)
		if err == nil {
			err = action(o.engine.AsOperator(callerNameOf(ctx)), h.Lead, h.Type)
		}
		return nil, err
	}
}

// resendSupplierDeadLetters puts all dead letters of a supplier back into the queue, so that they are
// sent again. It answers with their number.
func (a *Admin) resendSupplierDeadLetters(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
	n, err := o.engine.AsOperator(callerNameOf(ctx)).ResendDeadLetters(market.SupplierID(o.id))
	if err != nil {
		return nil, err
	}
	return map[string]any{"resent": n}, nil
}

// supplierWebhookSwitchHandler returns the handler that switches a supplier's webhook off or on. Switching
// it off makes its queued webhooks dead letters. The handler also works for a webhook that was
// removed from the configuration, while webhooks or dead letters of it are left.
func (a *Admin) supplierWebhookSwitchHandler(switchOff bool) supplierOrBuyerHandler {
	return func(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
		if o.configuredSupplierWebhookOrNil() == nil && o.engine.State().OutboxStatus(o.ref) == (state.OutboxStatus{}) {
			return nil, httperror.New(404, errcode.NotFound, "The supplier has no webhook. Add one in the configuration first.")
		}
		actions := o.engine.AsOperator(callerNameOf(ctx))
		if switchOff {
			return nil, actions.SwitchOffAndDeadLetterWebhooks(market.SupplierID(o.id))
		}
		return nil, actions.SwitchOnWebhooks(market.SupplierID(o.id))
	}
}
