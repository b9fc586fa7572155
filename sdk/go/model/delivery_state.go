// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// DeliveryState is: What is known of the way to the buyer's endpoint. `none`: there is none, the lead is only recorded. `pending`: being sent, or between two tries. `delivered`: acknowledged. `unknown`: the tries are used up, and the operator decides. `failed`: refused. `confirmed`: the operator has found that the buyer has it. `released`: the operator took it back.
// Others than those below may come.
type DeliveryState string

const (
	DeliveryStateNone      DeliveryState = "none"
	DeliveryStatePending   DeliveryState = "pending"
	DeliveryStateDelivered DeliveryState = "delivered"
	DeliveryStateUnknown   DeliveryState = "unknown"
	DeliveryStateFailed    DeliveryState = "failed"
	DeliveryStateConfirmed DeliveryState = "confirmed"
	DeliveryStateReleased  DeliveryState = "released"
)
