// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// ReturnState is: The state of a lead's return. `waiting`: for an operator. `approved`: the lead was returned. `refused`: an operator denied it. A denied return cannot be requested again.
// Others than those below may come.
type ReturnState string

const (
	ReturnStateWaiting  ReturnState = "waiting"
	ReturnStateApproved ReturnState = "approved"
	ReturnStateRefused  ReturnState = "refused"
)
