package flinkplan.runtime.window;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;

/** Of windows that merge, the one that stands for each in the state: Flink's {@code MergingWindowSet}. */
final class MergingWindowSet {
    private MergingWindowSet() {}

    /** Told where windows merge. */
    interface Merge {
        /**
         * @param result the window that takes the place of the others
         * @param merged the windows that were there before
         * @param target the window that stands for the result in the state
         * @param sources the windows that stood there for the others
         */
        void accept(Window result, Set<Window> merged, Window target, List<Window> sources);
    }

    /**
     * Adds a window to {@code windows}; the one that it is in from now on.
     *
     * @param windows by start; none of them touches another
     */
    static Window add(Window added, NavigableMap<Window, Window> windows, Merge merge) {
        List<Window> touching = new ArrayList<>();
        Window result = added;
        Window lastThatMay = new Window(added.end(), Long.MAX_VALUE);
        Window window = windows.floorKey(lastThatMay);
        while (window != null && window.intersects(added)) {
            touching.add(window);
            result = result.cover(window);
            window = windows.lowerKey(window);
        }
        if (touching.isEmpty() || touching.equals(List.of(added))) {
            windows.put(added, added); // as Flink has it, also where the same window had another's contents
            return added;
        }
        if (touching.size() == 1) {
            return extend(touching.get(0), result, windows, merge);
        }
        Set<Window> merged = inFlinksOrder(touching, added);
        Window target = windows.get(merged.iterator().next());
        List<Window> sources = new ArrayList<>();
        for (Window each : merged) {
            sources.add(windows.remove(each));
        }
        windows.put(result, target);
        sources.remove(target);
        if (!merged.equals(Set.of(result))) {
            merge.accept(result, merged, target, sources);
        }
        return result;
    }

    /** The most frequent case, at no more than it costs: the only window that is touched becomes {@code result}. */
    private static Window extend(Window touched, Window result, Map<Window, Window> windows, Merge merge) {
        if (!touched.equals(result)) {
            Window target = windows.remove(touched);
            windows.put(result, target);
            merge.accept(result, Set.of(touched), target, List.of());
        }
        return result;
    }

    /** A hash set, filled by start with the added window among the others: which of them is first decides. */
    private static Set<Window> inFlinksOrder(List<Window> touching, Window added) {
        List<Window> sorted = new ArrayList<>(touching);
        sorted.add(added);
        sorted.sort(Comparator.comparingLong(Window::start));
        Set<Window> merged = new HashSet<>(sorted);
        merged.remove(added);
        return merged;
    }
}
