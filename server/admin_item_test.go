package server

import (
	"pingpost/engine"
	"pingpost/server/config"
)

func (desk) Items(config.Kind) ([]Item, error)            { return nil, nil }
func (desk) Item(config.Ref) (*Item, error)               { return nil, engine.ErrNotFound }
func (desk) ChangeItem(*ItemChange) (*ItemChanged, error) { return nil, engine.ErrNotFound }
func (desk) History(HistoryQuery) (*HistoryPage, error)   { return &HistoryPage{}, nil }
func (desk) SuppressionLists() ([]SuppressionList, error) { return nil, nil }
func (desk) Upload(*Upload) (*Uploaded, error)            { return nil, engine.ErrNotFound }
func (desk) BackUp() bool                                 { return false }
func (desk) Backup() Backup                               { return Backup{} }
