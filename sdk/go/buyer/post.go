package buyer

import (
	"context"
	"errors"
	"net/http"

	"pingpost/sdk/go/model"
)

// answerPost accepts a lead once per key. A repetition waits for a post in progress. An
// answered key gets the same answer again, whatever the repeated body contains.
func (b *Buyer) answerPost(ctx context.Context, r *Request, members map[string]any) Response {
	for {
		before, known, err := b.options.Store.Get(ctx, r.Key)
		if err != nil {
			return functionFailed(r)
		}
		if known {
			return Response{Status: before.Status, RequestID: before.RequestID, Body: before.Body}
		}
		b.mu.Lock()
		first, flying := b.inFlight[r.Key]
		if !flying {
			b.inFlight[r.Key] = make(chan struct{})
		}
		b.mu.Unlock()
		if !flying {
			return b.answerFirstPost(ctx, r, members)
		}
		select {
		case <-first:
		case <-ctx.Done():
			return functionFailed(r)
		}
	}
}

// answerFirstPost handles a lead whose key belongs to this request. It reads the store again,
// because the previous request with this key may have ended since the first read.
func (b *Buyer) answerFirstPost(ctx context.Context, r *Request, members map[string]any) Response {
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		close(b.inFlight[r.Key])
		delete(b.inFlight, r.Key)
	}()
	if before, known, err := b.options.Store.Get(ctx, r.Key); err != nil {
		return functionFailed(r)
	} else if known {
		return Response{Status: before.Status, RequestID: before.RequestID, Body: before.Body}
	}
	if wrong := checkMembers(members, postRules); wrong != nil {
		return invalid(r, wrong)
	}
	var post model.LeadDelivery
	decodeMembers(members, postRules, &post)
	// The sender may disconnect before the lead is accepted. The lead is accepted anyway; the
	// exchange gets the answer when it repeats the post.
	ctx = context.WithoutCancel(ctx)
	id, err := b.callPost(ctx, &post)
	var no Refusal
	var answer Response
	switch {
	case errors.As(err, &no):
		answer = refused(r, no)
	case err != nil:
		return functionFailed(r)
	default:
		answer = respond(r, http.StatusCreated, model.BuyerReceipt{LeadID: &id})
	}
	if b.options.Store.Put(ctx, r.Key, Stored{answer.Status, answer.RequestID, answer.Body}) != nil {
		return functionFailed(r)
	}
	return answer
}

func (b *Buyer) callPost(ctx context.Context, post *model.LeadDelivery) (id string, err error) {
	defer func() {
		if recover() != nil {
			err = errPanicked
		}
	}()
	return b.options.Post(ctx, post)
}

func refused(r *Request, why Refusal) Response {
	body := struct {
		model.Error
		Reason string `json:"reason,omitempty"`
	}{model.Error{Error: model.ErrorCodePostRejected, Message: why.Detail, RequestID: r.RequestID}, why.Reason}
	if body.Message == "" {
		body.Message = "The buyer does not take this lead."
	}
	return respond(r, http.StatusUnprocessableEntity, body)
}
