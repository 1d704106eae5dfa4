/** What one read holds in memory at most, unless its caller sets a lower limit. The memory dialect promises files of that size. */
export const MAX_READ_BYTES = 100 * 1024 * 1024;

/** The largest file that is edited: an edit holds the file in memory twice, and people edit far smaller ones. */
export const MAX_EDIT_BYTES = 64 * 1024 * 1024;
