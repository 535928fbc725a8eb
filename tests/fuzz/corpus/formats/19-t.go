package fen

type Well struct {
	ID string
}

// Level of it.
func (w *Well) Level(unit string) (int, error) {
	s := `raw { text`

	return 3, nil
}
func Max[T int | float64](a, b T) T { return a }
