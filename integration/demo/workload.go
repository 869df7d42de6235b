package main

// A workload is the writes of all runs, in batches.
type workload struct {
	source     string // where the writes are from
	writes     int
	skipped    int // lines that were no writes
	items      int // how many different ones are written to
	partitions int
	size       int // writes per batch at most
	batches    [][]write
	expected   contents // of the tables, after all writes
}

func newWorkload(source string, writes []write, skipped, size int) *workload {
	items, partitions := map[string]bool{}, map[string]bool{}
	for _, w := range writes {
		items[w.item] = true
		partitions[w.partition] = true
	}
	return &workload{
		source:     source,
		writes:     len(writes),
		skipped:    skipped,
		items:      len(items),
		partitions: len(partitions),
		size:       size,
		batches:    batches(writes, size),
		expected:   contentsAfter(writes),
	}
}

// batches divides writes into batches of at most size. A batch must not hold
// two writes of one item; the second one is set aside for the next batch,
// together with all that follow for that item, so that the writes of an item
// stay in their order. When a whole batch is set aside already, a batch is
// closed early, so that no write waits for long.
func batches(writes []write, size int) [][]write {
	var all [][]write
	var aside []write
	for len(writes)+len(aside) > 0 {
		var batch, again []write
		taken := map[string]bool{}
		place := func(w write) {
			if len(batch) == size || taken[w.item] {
				again = append(again, w)
				return
			}
			taken[w.item] = true
			batch = append(batch, w)
		}
		for _, w := range aside {
			place(w)
		}
		// While there is room in the batch, what is aside is so for an item that
		// is in the batch, so a new write cannot get ahead of it.
		for len(batch) < size && len(again) < size && len(writes) > 0 {
			place(writes[0])
			writes = writes[1:]
		}
		all = append(all, batch)
		aside = again
	}
	return all
}
