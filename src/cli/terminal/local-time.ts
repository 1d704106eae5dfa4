/** Writes a time for people, in the local zone: `2026-03-04 15:06:07`. */
export function localTime(ms: number): string {
  const time = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}
