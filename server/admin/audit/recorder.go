package audit

import (
	"encoding/json"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
	"pingpost/server/ratelimit"
)

// Actor is the operator of an action, with the credential and the client's address.
type Actor struct {
	Name       string
	Credential event.OperatorCredentialKind
	Token      string // id of the API token
	Role       market.OperatorRole
	Address    netip.Addr
}

func (a *Actor) newRecord(operation string, phase event.OperatorActionPhase) event.OperatorActionRecorded {
	record := event.OperatorActionRecorded{
		Action: httperror.NewRequestID(), Phase: phase, Credential: a.Credential, Token: a.Token, Role: a.Role, Operation: operation,
	}
	if a.Address.IsValid() {
		record.Address = a.Address.String()
	}
	return record
}

// Options configure a Recorder.
type Options struct {
	IsStopping  func() bool                                               // whether the log may refuse records because the exchange stops
	ConfigEntry func(kind, id string) (document json.RawMessage, ok bool) // without secrets
	Logger      *slog.Logger
}

// Recorder writes records of operators' actions to the exchange's log.
type Recorder struct {
	options  Options
	networks *ratelimit.TokenBuckets[netip.Prefix] // for failures
	all      *ratelimit.TokenBuckets[string]       // for failures, one bucket
	viewers  *ratelimit.TokenBuckets[string]       // for all records about viewers, by name
	omitted  atomic.Uint32                         // failures since the last record of one
}

// NewRecorder returns a recorder. Of failures it records at most ten at once and then one a minute from
// each network, and 500 at once and then one every five seconds in total, because anyone who reaches
// the admin address can cause them. CountViewerActionOrWait has the limit for viewers.
func NewRecorder(options Options) *Recorder {
	return &Recorder{
		options:  options,
		networks: ratelimit.NewTokenBuckets[netip.Prefix](time.Minute, 10),
		all:      ratelimit.NewTokenBuckets[string](5*time.Second, 500),
		viewers:  ratelimit.NewTokenBuckets[string](6*time.Second, 100),
	}
}

// CountViewerActionOrWait returns how long the actor must wait before the next request that has a
// record; zero means that it may send it now, and the request counts. A viewer may send 100 such
// requests at once and then ten a minute, because viewers are many and trusted least, and the log keeps
// each record. Other roles have no limit: they change the exchange, and each change has a record
// anyway.
func (r *Recorder) CountViewerActionOrWait(actor *Actor) (wait time.Duration) {
	if actor.Role >= market.RoleOperator {
		return 0
	}
	_, wait, _ = r.viewers.Take(actor.Name, time.Now().UnixNano())
	return wait
}

// Action is an operator's action that has begun. Without an engine it is nil: such an action changes no
// data of the exchange.
type Action struct {
	recorder *Recorder
	engine   *engine.Engine
	actor    string
	record   event.OperatorActionRecorded
}

// Begin records that an action begins, durably when it returns. After an error the action must not run.
// Without an engine both results are nil. route is the pattern of the request's path.
func (r *Recorder) Begin(ctx *fasthttp.RequestCtx, e *engine.Engine, actor *Actor, method, route string) (actionOrNil *Action, err error) {
	if e == nil {
		return nil, nil //nolint:nilnil // documented: no record without an engine
	}
	a := &Action{recorder: r, engine: e, actor: actor.Name, record: actor.newRecord(method+" "+route, event.ActionBegun)}
	variables := variablesOf(route)
	a.record.TargetKind, a.record.Request = targetKindOf(route), recordedRequestValues(ctx, a.record.Operation, variables)
	if len(variables) > 0 {
		a.record.Target = cut(payload.PathParameter(ctx, variables[0]))
		if a.record.TargetKind == targetKinds["leads"] {
			a.record.Target = leadIDOrInvalid(a.record.Target)
		}
	}
	if a.record.Operation == handOverOperation {
		a.record.Phase, a.record.Status = event.ActionWhole, fasthttp.StatusNoContent
	}
	a.record.Before = r.describeTargetNow(e, &a.record)
	if err := e.AsOperator(actor.Name).RecordAction(&a.record); err != nil {
		return nil, err
	}
	return a, nil
}

// handOverOperation makes another node the leader. After it this node cannot write to the log, so the
// record before it has the status of success. Only a failure has a second record, which replaces the
// status.
const handOverOperation = "POST /admin/v1/cluster/handover"

// End records the outcome of the action: the answer's status and request id, and the target after the
// action.
func (a *Action) End(ctx *fasthttp.RequestCtx) {
	if a == nil || a.record.Phase == event.ActionWhole && ctx.Response.StatusCode() < fasthttp.StatusBadRequest {
		return
	}
	ended := event.OperatorActionRecorded{Action: a.record.Action, Phase: event.ActionEnded, Status: uint32(ctx.Response.StatusCode())}
	if id, ok := market.ParseRequestID(string(ctx.Response.Header.Peek(httperror.HeaderRequestID))); ok {
		ended.Answer = id
	}
	a.recordEndWithTarget(&ended, recordedResultValues(ctx, a.record.Operation))
}

// EndPanicked records that the handler of the action panicked.
func (a *Action) EndPanicked() {
	if a != nil {
		a.recordEndWithTarget(&event.OperatorActionRecorded{Action: a.record.Action, Phase: event.ActionEnded, Status: fasthttp.StatusInternalServerError}, "")
	}
}

func (a *Action) recordEndWithTarget(ended *event.OperatorActionRecorded, result string) {
	ended.Result = result
	after := a.recorder.describeTargetNow(a.engine, &a.record)
	if ended.Status < fasthttp.StatusBadRequest || after != a.record.Before {
		ended.After = after
	}
	if err := a.engine.AsOperator(a.actor).RecordAction(ended); a.recorder.isFault(err) {
		a.recorder.options.Logger.Error("cannot record the outcome of an operator's action; the audit log shows it without one",
			"action", a.record.Action, "operation", a.record.Operation, "error", err)
	}
}

// isFault reports whether an error of RecordAction is a fault of the log. It is none once the exchange stops, or
// once this node no longer leads its cluster.
func (r *Recorder) isFault(err error) bool {
	return err != nil && !r.options.IsStopping() && !engine.IsEndOfLeadership(err)
}

// RecordSignIn records a sign-in with the status of its answer. After an error the session must not
// begin.
func (r *Recorder) RecordSignIn(e *engine.Engine, actor *Actor, operation string, status int) error {
	if e == nil {
		return httperror.Unavailable
	}
	record := actor.newRecord(operation, event.ActionWhole)
	record.TargetKind, record.Status = "session", uint32(status)
	return e.AsOperator(actor.Name).RecordAction(&record)
}

// RecordOrCountFailure records a failed sign-in or a refused action. network is that of the client.
// Above the limits it counts the failure instead, and the next record of a failure has the count.
// Without an engine it does neither.
func (r *Recorder) RecordOrCountFailure(e *engine.Engine, actor *Actor, operation, targetKind string, status int, network netip.Prefix) {
	if e == nil {
		return
	}
	now := time.Now().UnixNano()
	if ok, _, _ := r.networks.Take(network, now); !ok {
		r.omitted.Add(1)
		return
	}
	if ok, _, _ := r.all.Take("", now); !ok {
		r.omitted.Add(1)
		return
	}
	record := actor.newRecord(operation, event.ActionWhole)
	record.TargetKind, record.Status, record.Omitted = targetKind, uint32(status), r.omitted.Swap(0)
	if err := e.AsOperator(actor.Name).RecordAction(&record); r.isFault(err) {
		r.options.Logger.Error("cannot record a failed sign-in or a refused action in the audit log", "operation", operation, "error", err)
	}
}
