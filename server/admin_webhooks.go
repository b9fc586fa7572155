package server

import (
	"strconv"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// webhookRoutes are the paths about what suppliers are told of their leads.
func (a *Admin) webhookRoutes(add func(method, path string, h fasthttp.RequestHandler)) {
	supplier := func(method, path string, h func(*fasthttp.RequestCtx, *owner)) {
		add(method, "/admin/v1/webhooks/{id}"+path, a.owned(event.NameSupplier, h))
	}
	add("GET", "/admin/v1/webhooks", a.webhooks)
	supplier("GET", "", a.webhook)
	supplier("GET", "/dead", a.deadLetters)
	supplier("POST", "/dead/{event}/resend", a.aboutDeadLetter(engine.Operator.ResendHook))
	supplier("DELETE", "/dead/{event}", a.aboutDeadLetter(engine.Operator.DropHook))
	supplier("POST", "/resend", a.resendAll)
	supplier("POST", "/off", a.switchWebhook(true))
	supplier("POST", "/on", a.switchWebhook(false))
	supplier("POST", "/secret", a.rotateSecret)
	supplier("DELETE", "/secret/previous", a.endPrevious)
}

// webhooks lists the suppliers that are told of their leads, or that something
// waits for.
func (a *Admin) webhooks(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	body := []byte(`{"webhooks":[`)
	for ref := 1; ref <= e.State().Names(event.NameSupplier); ref++ {
		o := &owner{engine: e, kind: event.NameSupplier, ref: market.Ref(ref), id: e.State().NameOf(event.NameSupplier, market.Ref(ref))}
		standing := e.State().HookStanding(o.ref)
		if o.webhook() == nil && standing == (state.HookStanding{}) {
			continue
		}
		if body[len(body)-1] != '[' {
			body = append(body, ',')
		}
		body = a.appendWebhook(body, o, &standing)
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "]}\n"...))
}

// webhook is how it goes with one supplier's.
func (a *Admin) webhook(ctx *fasthttp.RequestCtx, o *owner) {
	standing := o.engine.State().HookStanding(o.ref)
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(a.appendWebhook(nil, o, &standing), '\n'))
}

// webhook is where the supplier is told by the configuration in force; nil:
// nowhere.
func (o *owner) webhook() *market.Endpoint {
	if catalog := o.engine.Catalog(); catalog != nil {
		if supplier := catalog.Suppliers[market.SupplierID(o.id)]; supplier != nil {
			return supplier.Hooks
		}
	}
	return nil
}

func (a *Admin) appendWebhook(body []byte, o *owner, standing *state.HookStanding) []byte {
	body = market.AppendJSONString(append(body, `{"supplier_id":`...), []byte(o.id))
	body = append(body, `,"url":`...)
	if to := o.webhook(); to != nil {
		body = market.AppendJSONString(body, []byte(to.URL))
	} else {
		body = append(body, "null"...)
	}
	body = strconv.AppendInt(append(body, `,"pending":`...), int64(standing.Pending), 10)
	body = strconv.AppendInt(append(body, `,"dead":`...), int64(standing.Dead), 10)
	body = strconv.AppendInt(append(body, `,"dropped":`...), int64(standing.Dropped), 10)
	body = append(body, `,"failing_since":`...)
	if standing.FailingSince == 0 {
		body = append(body, "null"...)
	} else {
		body = appendInstant(body, standing.FailingSince)
	}
	body = strconv.AppendBool(append(body, `,"off":`...), standing.Off)
	return append(a.appendHints(append(body, `,"secrets":[`...), o), "]}"...)
}

// How many dead letters a page has.
const (
	pageOfLetters = 100
	maxLetters    = 1000
)

// deadLetters lists a supplier's dead letters, oldest first: limit of them, after
// the first so many; next is the after of the page that follows.
func (a *Admin) deadLetters(ctx *fasthttp.RequestCtx, o *owner) {
	after, ok := a.number(ctx, "after", 0, 0, 1<<31)
	if !ok {
		return
	}
	limit, ok := a.number(ctx, "limit", pageOfLetters, 1, maxLetters)
	if !ok {
		return
	}
	dead, err := o.engine.DeadHooks(market.SupplierID(o.id), after, limit)
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	total := o.engine.State().HookStanding(o.ref).Dead
	body := strconv.AppendInt([]byte(`{"total":`), int64(total), 10)
	body = append(body, `,"next":`...)
	if len(dead) == limit && after+limit < total {
		body = strconv.AppendInt(body, int64(after+limit), 10)
	} else {
		body = append(body, "null"...)
	}
	body = append(body, `,"dead":[`...)
	for i := range dead {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendDeadLetter(body, &dead[i])
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "]}\n"...))
}

func appendDeadLetter(body []byte, h *state.Hook) []byte {
	body = market.EventOf(h.Lead, h.Type, h.Created).AppendTo(append(body, `{"id":"`...))
	body = append(append(body, `","type":"`...), h.Type.String()...)
	body = h.Lead.AppendTo(append(body, `","lead_id":"`...))
	body = strconv.AppendUint(append(body, `","attempts":`...), uint64(h.Attempts), 10)
	body = appendInstant(append(body, `,"created_at":`...), h.Created)
	return append(appendInstant(append(body, `,"died_at":`...), h.Due), '}')
}

// number reads a whole number of the query; not ok: it was answered already.
func (a *Admin) number(ctx *fasthttp.RequestCtx, name string, otherwise, least, most int) (n int, ok bool) {
	if !ctx.QueryArgs().Has(name) {
		return otherwise, true
	}
	n, err := strconv.Atoi(string(ctx.QueryArgs().Peek(name)))
	if err != nil || n < least || n > most {
		a.fail(ctx, faultPayload, market.FieldError{
			Field: name, Code: errcode.FieldOutOfRange, Expected: "a whole number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most),
		})
		return 0, false
	}
	return n, true
}

// aboutDeadLetter does something with the dead letter that the path names.
func (a *Admin) aboutDeadLetter(do func(engine.Operator, market.LeadID, market.HookType) error) func(*fasthttp.RequestCtx, *owner) {
	return func(ctx *fasthttp.RequestCtx, o *owner) {
		id, ok := market.ParseEventID(parameter(ctx, "event"))
		if !ok {
			a.fail(ctx, fault{404, errcode.NotFound, "There is no event of this id; it begins with evt_."})
			return
		}
		h, err := o.engine.DeadHook(market.SupplierID(o.id), id)
		if err == nil {
			err = do(o.engine.By(actorOf(ctx)), h.Lead, h.Type)
		}
		a.done(ctx, err)
	}
}

// done answers an order that was carried out, or was not.
func (a *Admin) done(ctx *fasthttp.RequestCtx, err error) {
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// resendAll has all of a supplier's dead letters tried again.
func (a *Admin) resendAll(ctx *fasthttp.RequestCtx, o *owner) {
	n, err := o.engine.By(actorOf(ctx)).ResendAllHooks(market.SupplierID(o.id))
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(strconv.AppendInt([]byte(`{"resent":`), int64(n), 10), "}\n"...))
}

// switchWebhook switches a supplier's webhook off or on. One that its configuration
// has taken away can be switched as long as something is left of it.
func (a *Admin) switchWebhook(off bool) func(*fasthttp.RequestCtx, *owner) {
	return func(ctx *fasthttp.RequestCtx, o *owner) {
		if o.webhook() == nil && o.engine.State().HookStanding(o.ref) == (state.HookStanding{}) {
			a.fail(ctx, fault{404, errcode.NotFound, "The supplier has no webhook; give it one in the configuration first."})
			return
		}
		a.done(ctx, o.engine.By(actorOf(ctx)).SwitchHooks(market.SupplierID(o.id), off))
	}
}
