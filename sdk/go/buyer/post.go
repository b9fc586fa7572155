package buyer

import (
	"context"
	"errors"
	"net/http"

	"pingpost/sdk/go/model"
)

// post takes a lead, once for each key. A key that comes while its first post is being taken
// waits for it; one that was answered gets that answer again, whatever stands in it now.
func (b *Buyer) post(ctx context.Context, r *Request, members map[string]any) Response {
	for {
		before, known, err := b.options.Store.Get(ctx, r.Key)
		if err != nil {
			return fault(r)
		}
		if known {
			return Response{Status: before.Status, RequestID: before.RequestID, Body: before.Body}
		}
		b.mu.Lock()
		first, flying := b.flights[r.Key]
		if !flying {
			b.flights[r.Key] = make(chan struct{})
		}
		b.mu.Unlock()
		if !flying {
			return b.takeFirst(ctx, r, members)
		}
		select {
		case <-first:
		case <-ctx.Done():
			return fault(r)
		}
	}
}

// takeFirst takes a lead whose key is this request's to answer. The store is asked once more: the
// post that had the key before may have ended between the two looks.
func (b *Buyer) takeFirst(ctx context.Context, r *Request, members map[string]any) Response {
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		close(b.flights[r.Key])
		delete(b.flights, r.Key)
	}()
	if before, known, err := b.options.Store.Get(ctx, r.Key); err != nil {
		return fault(r)
	} else if known {
		return Response{Status: before.Status, RequestID: before.RequestID, Body: before.Body}
	}
	if wrong := check(members, postRules); wrong != nil {
		return invalid(r, wrong)
	}
	var post model.LeadDelivery
	read(members, postRules, &post)
	// Who sends the post may have gone before it is taken: it is taken all the same, and told
	// when the exchange asks again.
	ctx = context.WithoutCancel(ctx)
	id, err := b.take(ctx, &post)
	var no Refusal
	var answer Response
	switch {
	case errors.As(err, &no):
		answer = refused(r, no)
	case err != nil:
		return fault(r)
	default:
		answer = respond(r, http.StatusCreated, model.BuyerReceipt{LeadID: &id})
	}
	if b.options.Store.Put(ctx, r.Key, Stored{answer.Status, answer.RequestID, answer.Body}) != nil {
		return fault(r)
	}
	return answer
}

func (b *Buyer) take(ctx context.Context, post *model.LeadDelivery) (id string, err error) {
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
